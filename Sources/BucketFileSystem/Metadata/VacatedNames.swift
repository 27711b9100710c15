import ObjectStore

/// Names that a renaming has just left. Editors save by renaming the file away, as a backup, and writing a new one in
/// its place: that one is to carry what was set on the old, as it does where it is written in place or renamed over
/// (docs/decisions/0045). A value in the file system's lock.
struct VacatedNames {
    /// How long a name is remembered.
    let moment: Duration

    /// Programs that rename many files do not take up their names again.
    private static let most = 64

    private var names: [(name: ObjectName, headers: ObjectHeaders, since: Instant)] = []

    init(lasting moment: Duration) { self.moment = moment }

    mutating func leave(_ name: ObjectName, _ headers: ObjectHeaders, now: Instant) {
        names.removeAll { $0.name == name || now.elapsed(since: $0.since) > moment }
        guard moment > .zero, headers.isMarked(under: name) else { return }
        if names.count == Self.most { names.removeFirst() }
        names.append((name, headers, now))
    }

    /// What was set on the file that had this name a moment ago; told once.
    mutating func take(_ name: ObjectName, now: Instant) -> ObjectHeaders? {
        guard let index = names.firstIndex(where: { $0.name == name }) else { return nil }
        let left = names.remove(at: index)
        return now.elapsed(since: left.since) > moment ? nil : left.headers
    }
}

extension ObjectHeaders {
    /// Somebody set something that a new object under this name would not have.
    func isMarked(under name: ObjectName) -> Bool { downloadTokens != nil || !isPlain(under: name) }

    /// As a new file's, but for what a Firebase server gives each.
    func isPlain(under name: ObjectName) -> Bool {
        let usual = [nil, ContentType.forName(name.bytes), ContentType.forFinalName(of: name)]
        return cacheControl == nil && (contentDisposition == nil || hasMadeDisposition(for: name))
            && contentLanguage == nil && usual.contains(contentType)
            && custom.keys.allSatisfy(PosixMetadata.Key.isBookkeeping)
    }
}
