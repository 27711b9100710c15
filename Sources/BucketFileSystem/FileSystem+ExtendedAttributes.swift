import Locking
import ObjectStore

/// Headers and custom metadata of an object, and what the bucket says of it, as extended attributes.
extension FileSystem {
    /// Whether an attribute must be there already, or must not (`XATTR_CREATE`, `XATTR_REPLACE`).
    package enum AttributeCondition: Sendable { case none, mustNotExist, mustExist }

    package func extendedAttribute(_ name: [UInt8], of inode: InodeNumber) async throws(FileSystemError) -> [UInt8] {
        let value: String? =
            switch ExtendedAttribute(name) {
            case .header(let header): header.value(in: try shownHeaders(of: inode))
            case .custom(let key): try shownHeaders(of: inode).custom[key]
            case .fact(.downloadURL):
                try place(of: inode).record.flatMap { store.downloadURL(of: $0.metadata) }
            case .fact(let fact): try place(of: inode).record.flatMap { fact.value(of: $0.metadata) }
            case .refresh: try await refreshed(inode)
            case .status: try status(at: inode)
            case .transfers(let command, let id): try perform(command, on: id, at: inode)
            case .control, .bookkeeping, nil: nil
            }
        guard let value else { throw .noSuchAttribute }
        return Array(value.utf8)
    }

    /// What somebody set, so that programs that copy attributes copy just that: not a type that the name suggests.
    package func extendedAttributeNames(of inode: InodeNumber) async throws(FileSystemError) -> [[UInt8]] {
        let headers = try shownHeaders(of: inode)
        let usualType = try usualType(of: inode)
        let set = ExtendedAttribute.Header.allCases.filter { header in
            guard let value = header.value(in: headers) else { return false }
            return header != .type || value != usualType
        }
        return set.map { Array($0.rawValue.utf8) }
            + headers.visibleCustom.keys.sorted().map(ExtendedAttribute.name(ofCustom:))
    }

    /// - Throws: `.invalidArgument` for what is no text, `.attributeTooLarge` and `.attributesFull` beyond the
    ///   service's limits, `.notPermitted` for what can only be read.
    package func setExtendedAttribute(
        _ name: [UInt8], to value: [UInt8], if condition: AttributeCondition, of inode: InodeNumber
    ) async throws(FileSystemError) {
        let attribute = try writable(name)
        guard let text = String(validating: value, as: UTF8.self) else { throw .invalidArgument }
        if attribute == .control { return try await obey(text, at: inode) }
        try requireWritable()
        let headers = try shownHeaders(of: inode)
        let present = attribute.isPresent(in: headers)
        if condition == .mustNotExist, present { throw .exists }
        if condition == .mustExist, !present { throw .noSuchAttribute }
        let patch: MetadataPatch
        switch attribute {
        case .header(let header):
            // A header's value is one line.
            let hasControl = value.contains { $0 < 0x20 || $0 == 0x7F }
            if hasControl || value.isEmpty || inode == .root { throw .invalidArgument }
            patch = header.patch(.set(text))
        case .custom(let key):
            try requireRoom(for: key, text, in: headers)
            patch = MetadataPatch(custom: [key: .set(text)])
        case .fact, .bookkeeping, .control, .status, .transfers, .refresh: throw .notPermitted
        }
        try await change(patch, from: headers, of: inode)
    }

    package func removeExtendedAttribute(_ name: [UInt8], of inode: InodeNumber) async throws(FileSystemError) {
        let attribute = try writable(name)
        try requireWritable()
        let headers = try shownHeaders(of: inode)
        guard attribute.isPresent(in: headers) else { throw .noSuchAttribute }
        switch attribute {
        // An object has a type: without one of its own it gets the one that its name suggests.
        case .header(.type):
            let usual = ExtendedAttribute.Header.type.patch(.set(try usualType(of: inode)))
            try await change(usual, from: headers, of: inode)
        case .header(let header): try await change(header.patch(.remove), from: headers, of: inode)
        case .custom(let key): try await change(MetadataPatch(custom: [key: .remove]), from: headers, of: inode)
        case .fact, .bookkeeping, .control, .status, .transfers, .refresh: throw .notPermitted
        }
    }

    /// - Throws: `.notPermitted` for what can be read, or not even that; `.unsupported` for a name that cannot be kept.
    private func writable(_ name: [UInt8]) throws(FileSystemError) -> ExtendedAttribute {
        switch ExtendedAttribute(name) {
        case .fact, .bookkeeping, .status, .transfers, .refresh: throw .notPermitted
        case .header(let header): .header(header)
        case .custom(let key): .custom(key)
        case .control: .control
        case nil: throw String(validating: name, as: UTF8.self) == nil ? .invalidArgument : .unsupported
        }
    }

    private func change(
        _ patch: MetadataPatch, from headers: ObjectHeaders, of inode: InodeNumber
    ) async throws(FileSystemError) {
        // The root has no object that could hold it.
        guard inode != .root else { throw .unsupported }
        var changed = headers
        changed.apply(patch)
        guard changed != headers else { return }
        try await apply(MetadataChanges(changed: clock.today(), headers: patch), to: inode)
    }

    /// 8 KiB for all keys and values of an object's custom metadata (PROTOCOL.md, names and limits).
    private static let mostCustomBytes = 8 << 10

    private func requireRoom(
        for key: String, _ value: String, in headers: ObjectHeaders
    ) throws(FileSystemError) {
        guard key.utf8.count + value.utf8.count <= Self.mostCustomBytes else { throw .attributeTooLarge }
        var changed = headers
        changed.custom[key] = value
        guard changed.customSize <= Self.mostCustomBytes else { throw .attributesFull }
    }

    // MARK: As the file shows them

    /// The object's headers with what is to be stored or sent over them.
    func shownHeaders(of inode: InodeNumber) throws(FileSystemError) -> ObjectHeaders {
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            var headers = node.record?.metadata.headers ?? ObjectHeaders()
            if node.record == nil, node.kind == .file {
                headers.contentType = ContentType.forFinalName(of: space.objectName(of: node))
            }
            return node.contents?.localAttributes.changes.applied(to: headers) ?? headers
        }
    }

    private func usualType(of inode: InodeNumber) throws(FileSystemError) -> String {
        try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return node.kind == .directory
                ? Self.placeholderType : ContentType.forFinalName(of: space.objectName(of: node))
        }
    }
}

extension ExtendedAttribute {
    fileprivate func isPresent(in headers: ObjectHeaders) -> Bool {
        switch self {
        case .header(let header): header.value(in: headers) != nil
        case .custom(let key): headers.custom[key] != nil
        case .fact, .bookkeeping, .control, .status, .transfers, .refresh: false
        }
    }
}
