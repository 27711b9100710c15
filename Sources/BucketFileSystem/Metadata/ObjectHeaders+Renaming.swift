import ObjectStore

extension ObjectHeaders {
    /// With the time of `record`, whose headers these are: where only the bucket's clock told it, another object of the
    /// same bytes would lose it.
    func keepingTime(of record: FileRecord) -> ObjectHeaders {
        record.posix.modified == nil ? MetadataChanges(modified: record.modified).applied(to: self) : self
    }

    /// What the file carries under another name: a type that came from the old name becomes the new one's, and a
    /// disposition that spells the old one goes.
    /// - Parameter left: what was set on the file that it takes the place of.
    func renamed(from old: ObjectName, to new: ObjectName, replacing left: ObjectHeaders?) -> ObjectHeaders {
        var headers = self
        if [ContentType.forName(old.bytes), ContentType.forFinalName(of: old)].contains(contentType) {
            headers.contentType = ContentType.forFinalName(of: new)
        }
        if headers.dispositionSpells(old) { headers.contentDisposition = nil }
        return left.map { headers.completed(from: $0, for: new) } ?? headers
    }

    /// An editor saves by writing a new file and renaming it over the old one. What was set on the object that goes
    /// (cache control, custom metadata, download tokens, a type of somebody's choice) is then missed by those who rely
    /// on it, so the new one takes it over where it has nothing of its own. The encoding is the bytes' and stays
    /// theirs.
    private func completed(from old: ObjectHeaders, for name: ObjectName) -> ObjectHeaders {
        var new = self
        new.cacheControl = cacheControl ?? old.cacheControl
        if hasMadeDisposition(for: name) { new.contentDisposition = nil }
        new.contentDisposition = new.contentDisposition ?? old.contentDisposition ?? contentDisposition
        new.contentLanguage = contentLanguage ?? old.contentLanguage
        let usual = ContentType.forName(name.bytes)
        if let type = old.contentType, type != usual, contentType == nil || contentType == usual {
            new.contentType = type
        }
        let kept = old.custom.filter { !PosixMetadata.Key.isOfFile($0.key) }
        new.custom = custom.merging(kept) { own, _ in own }
        // Links to either go on working. A Firebase server gives each new object a token that nobody has asked for.
        new.downloadTokens = Self.joined(old.downloadTokens, downloadTokens)
        return new
    }

    private static func joined(_ first: String?, _ second: String?) -> String? {
        guard let first, let second else { return first ?? second }
        let known = first.split(separator: ",")
        return (known + second.split(separator: ",").filter { !known.contains($0) }).joined(separator: ",")
    }
}

extension MetadataPatch {
    /// What makes `new` of `old`.
    init(from old: ObjectHeaders, to new: ObjectHeaders) {
        func change(_ field: KeyPath<ObjectHeaders, String?>) -> Change? {
            old[keyPath: field] == new[keyPath: field] ? nil : new[keyPath: field].map { .set($0) } ?? .remove
        }
        self.init(custom: new.custom.filter { old.custom[$0.key] != $0.value }.mapValues { .set($0) })
        for key in old.custom.keys where new.custom[key] == nil { custom[key] = .remove }
        contentType = change(\.contentType)
        contentEncoding = change(\.contentEncoding)
        contentDisposition = change(\.contentDisposition)
        contentLanguage = change(\.contentLanguage)
        cacheControl = change(\.cacheControl)
    }
}
