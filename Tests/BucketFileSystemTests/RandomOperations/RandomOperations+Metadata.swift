import ObjectStore

@testable import BucketFileSystem

/// What is done to times, permissions, owners and extended attributes.
extension RandomOperations {
    func setTimesOrModeOrOwner() async throws {
        guard let (path, node) = anything() else { return }
        var changes = AttributeChanges()
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
            // Of a link nobody can set them.
            guard !node.isLink else { return }
            node.permissions = random.choice([0o600, 0o644, 0o755, 0o1755])
            changes.permissions = node.permissions
        case 2, 3:
            let time = anyTime()
            if !node.isFolder { node.modified = time }
            changes.modified = .at(time)
            if random.chance(1, in: 2) {
                let time = random.chance(1, in: 2) ? time : anyTime()
                if !node.isFolder { node.accessed = time }
                changes.accessed = .at(time)
            }
        default:
            (node.owner, node.group) = (random.choice([0, 1_000]), random.choice([0, 1_000]))
            (changes.owner, changes.group) = (node.owner, node.group)
        }
        note("setattr \(path) \(changes.summary)")
        _ = try await expect(nil) {
            try await self.files.setAttributes(of: try await self.inode(path), to: changes, handle: nil)
        }
        try await compare(path, node)
    }

    private func anyTime() -> Timestamp {
        Timestamp(
            seconds: Int64.random(in: 1..<2_000_000_000, using: &random),
            nanoseconds: random.choice([0, Int32.random(in: 0..<1_000_000_000, using: &random)]))
    }

    private static let attributeNames = [
        "user.mime_type", "user.storage.cache_control", "user.colour", "user.e\u{301}",
    ]

    func changeExtendedAttribute() async throws {
        // Links have none that a user could set.
        guard let (path, node) = anything(), !node.isLink else { return }
        let name = random.choice(Self.attributeNames)
        let isThere = node[attribute: name] != nil
        let inode = try await inode(path)
        if random.chance(1, in: 4) {
            note("removexattr \(path) \(name)")
            let removed: Void? = try await expect(isThere ? nil : "noSuchAttribute") {
                try await self.files.removeExtendedAttribute(Array(name.utf8), of: inode)
            }
            guard removed != nil else { return }
            let usual = node.isFolder ? ReferenceNode.folderType : ReferenceNode.usualType(of: path.last ?? "")
            node[attribute: name] = name == "user.mime_type" ? usual : nil
        } else {
            let value = name == "user.mime_type" ? random.choice(["text/x-a", "image/x-b"]) : anyValue()
            let condition = random.choice([FileSystem.AttributeCondition.none, .none, .mustExist, .mustNotExist])
            note("setxattr \(path) \(name) \(value) \(condition)")
            let expected =
                switch condition {
                case .none: String?.none
                case .mustExist: isThere ? nil : "noSuchAttribute"
                case .mustNotExist: isThere ? "exists" : nil
                }
            let set: Void? = try await expect(expected) {
                try await self.files.setExtendedAttribute(
                    Array(name.utf8), to: Array(value.utf8), if: condition, of: inode)
            }
            if set != nil { node[attribute: name] = value }
        }
        try await compare(path, node)
    }

    private func anyValue() -> String {
        String(repeating: random.choice(["x", "\u{e9}", "a b"]), count: Int.random(in: 1..<20, using: &random))
    }

    /// Each attribute by itself, and the list of what somebody has set.
    func compareExtendedAttributes(_ path: [String], _ node: ReferenceNode, _ inode: InodeNumber) async throws {
        for name in Self.attributeNames {
            let expected = node[attribute: name]
            let value = try await expect(expected == nil ? "noSuchAttribute" : nil) {
                try await self.files.extendedAttribute(Array(name.utf8), of: inode)
            }
            try check(value.map { String(decoding: $0, as: UTF8.self) }, is: expected, "\(name) of \(path)")
        }
        let usual = node.isFolder ? ReferenceNode.folderType : ReferenceNode.usualType(of: path.last ?? "")
        let expected = Self.attributeNames.filter { name in
            node[attribute: name] != nil && (name != "user.mime_type" || node.attributes.type != usual)
        }
        let listed = try await files.extendedAttributeNames(of: inode).map { String(decoding: $0, as: UTF8.self) }
        try check(listed.sorted(), is: expected.sorted(), "names of attributes of \(path)")
    }
}

extension ReferenceNode {
    subscript(attribute name: String) -> String? {
        get {
            switch name {
            case "user.mime_type": attributes.type
            case "user.storage.cache_control": attributes.cacheControl
            default: attributes.custom[String(name.dropFirst("user.".count))]
            }
        }
        set {
            switch name {
            case "user.mime_type": attributes.type = newValue ?? ""
            case "user.storage.cache_control": attributes.cacheControl = newValue
            default: attributes.custom[String(name.dropFirst("user.".count))] = newValue
            }
        }
    }
}

extension AttributeChanges {
    fileprivate var summary: String {
        let fields: [(String, Any?)] = [
            ("mode", permissions.map { String($0, radix: 8) }), ("owner", owner), ("group", group),
            ("mtime", modified), ("atime", accessed),
        ]
        return fields.compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: ", ")
    }
}
