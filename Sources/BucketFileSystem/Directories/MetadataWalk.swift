/// Somebody walks through a folder and wants each name's metadata, one after the other (`ls -l`, `find`, `rsync`),
/// while the bucket tells it in a request of its own for each: then the names that come next are asked for ahead. Knows
/// who walks by the order of the list. A plain value; touched only under the namespace's lock.
struct MetadataWalk {
    /// In the order of the list, which is the order of reading the folder.
    private var names: [EntryName] = []
    private var positions: [EntryName: Int] = [:]
    /// Where the last name was that somebody wanted.
    private var position: Int?
    /// Up to here names were asked for ahead.
    private var askedUpTo = 0
    /// How many names are asked for ahead.
    private var window = 0

    /// Enough to hide the latency of a request.
    static let widest = 64
    /// A name so far behind the last one still counts as the next: there may be folders or known names in between.
    private static let stride = 16

    /// A new list begins.
    mutating func startOver() { self = MetadataWalk() }

    mutating func append(_ name: EntryName) {
        positions[name] = names.count
        names.append(name)
    }

    /// Somebody wants `name`. Answers the names to ask for ahead, in their order; none for the first that is wanted,
    /// since most who open one file do not want its neighbours.
    mutating func wants(_ name: EntryName) -> ArraySlice<EntryName> {
        guard let here = positions[name] else { return [] }
        let isNext = position.map { (1...Self.stride).contains(here - $0) } ?? false
        window = isNext ? min(max(8, window * 2), Self.widest) : 0
        position = here
        if !isNext { askedUpTo = here + 1 }
        let start = max(here + 1, askedUpTo)
        let end = min(here + 1 + window, names.count)
        guard start < end else { return [] }
        askedUpTo = end
        return names[start..<end]
    }
}
