import BucketFileSystem

/// What a request asks for: names it in log lines.
struct Operation: Sendable, CustomStringConvertible {
    let verb: StaticString
    let inode: InodeNumber
    let name: EntryName?

    init(_ verb: StaticString, _ inode: InodeNumber, _ name: EntryName? = nil) {
        self.verb = verb
        self.inode = inode
        self.name = name
    }

    var description: String {
        if let name { "\(verb) \"\(name)\" in \(inode)" } else { "\(verb) \(inode)" }
    }
}
