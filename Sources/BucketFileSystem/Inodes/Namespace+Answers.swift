import ObjectStore

/// What can be said of a name without asking the bucket, and what an answer of the bucket changes.
extension Namespace {
    enum CachedLookup {
        case found(Entry)
        case absent(validFor: Duration)
        /// Nobody asked lately.
        case unknown
    }

    /// - Parameter sinceAnswer: the bucket was asked after this moment, so what it said counts whatever the TTL.
    mutating func cachedLookup(
        _ name: EntryName, in parent: InodeNumber, now: Instant, askedSince: Instant? = nil
    ) throws(FileSystemError) -> CachedLookup {
        let (folder, directory) = try directory(parent)
        let isCurrent = { (asOf: Instant, ttl: Duration) in
            now.elapsed(since: asOf) < ttl || askedSince.map { asOf >= $0 } == true
        }
        let child = directory.child(name)
        if let child, child.exists {
            guard isCurrent(child.asOf, configuration.metadataTTL) || child.outranksAnswers,
                let node = nodeOfChild(name, in: folder)
            else { return .unknown }
            return .found(entry(for: node, now: now))
        }
        // Asked for by itself, or missing in a whole listing: the later one counts.
        guard let asOf = [child?.asOf, directory.listedAt].compactMap({ $0 }).max(),
            isCurrent(asOf, configuration.negativeTTL)
        else { return .unknown }
        let validFor = max(.zero, configuration.negativeTTL - now.elapsed(since: asOf))
        // The kernel will believe it for as long: a refresh must know of which names.
        if child == nil, validFor > .zero { directory.set(name, .absent(asOf: asOf)) }
        return .absent(validFor: validFor)
    }

    /// Whether `name`, known to be absent, was so a moment ago; if not, nothing is believed of it any more.
    mutating func confirmAbsence(
        of name: EntryName, in parent: InodeNumber, now: Instant
    ) throws(FileSystemError) -> Bool {
        let (folder, directory) = try directory(parent)
        let asOf = [directory.child(name)?.asOf, directory.listedAt].compactMap { $0 }.max()
        if let asOf, now.elapsed(since: asOf) < configuration.exclusiveTTL { return true }
        // Nobody else is likely to know of it yet.
        if let madeAt = directory.madeAt, isFresh(madeAt, now: now) { return true }
        expire(name, in: folder)
        directory.listedAt = nil
        return false
    }

    /// The bucket says what `name` is: a record, a folder, or nothing (`kind` nil).
    mutating func learn(
        _ name: EntryName, in folder: Node, kind: FileAttributes.Kind?, record: FileRecord?, asOf: Instant
    ) {
        guard let directory = folder.directory else { return }
        let known = directory.child(name)
        // Our own doing, or a later answer, is better than what was asked for earlier.
        if let known, known.outranksAnswers || known.asOf > asOf { return }
        guard let kind else {
            if case .node(let node) = known {
                if node.stays { return node.asOf = asOf }
                detach(node, as: .superseded, leaving: nil)
            }
            directory.set(name, .absent(asOf: asOf))
            return
        }
        if case .node(let node) = known {
            if node.kind == kind, kind == .directory || node.record?.objectGeneration == record?.objectGeneration {
                node.asOf = asOf
                if let record { node.record = record }
                return
            }
            detach(node, as: .superseded, leaving: nil)
        }
        directory.set(name, .known(kind: kind, record: record, asOf: asOf))
    }

    /// The bucket has stored something of ours: `node` is now this record.
    func stored(_ node: Node, as record: FileRecord, now: Instant) {
        node.record = record
        node.asOf = now
        node.replaces = nil
        node.isExclusive = false
    }

    /// Ask again before believing anything about `name`.
    func expire(_ name: EntryName, in folder: Node) {
        guard let directory = folder.directory else { return }
        switch directory.child(name) {
        case .node(let node): node.asOf = Self.longAgo
        case .known(let kind, let record, _):
            directory.set(name, .known(kind: kind, record: record, asOf: Self.longAgo))
        case .listed, .absent: directory.set(name, nil)
        case nil: break
        }
        if directory.child(name) == nil { directory.listedAt = nil }
    }
}
