import ObjectStore

/// Where in which bucket a reference points. Names are bytes: nothing here folds, resolves or decodes them, but for
/// what an https address escapes.
struct StoragePath: Hashable, Sendable {
    let bucket: String
    /// Empty: the bucket's root.
    let object: ObjectName

    init(bucket: String, object: ObjectName = ObjectName([])) {
        self.bucket = bucket
        self.object = object
    }

    var isRoot: Bool { object.bytes.isEmpty }

    var root: StoragePath { StoragePath(bucket: bucket) }

    var name: String {
        let bytes = Self.withoutTrailingSlashes(object.bytes)
        let start = bytes.lastIndex(of: slash).map { $0 + 1 } ?? 0
        return String(decoding: bytes[start...], as: UTF8.self)
    }

    /// nil at the root.
    var parent: StoragePath? {
        guard !isRoot else { return nil }
        let bytes = Self.withoutTrailingSlashes(object.bytes)
        let end = bytes.lastIndex(of: slash) ?? 0
        return StoragePath(bucket: bucket, object: ObjectName(Array(Self.withoutTrailingSlashes(bytes[..<end]))))
    }

    /// Runs of `/` in `path` count as one, those at its ends not at all; `.` and `..` are names like others.
    func child(_ path: String) -> StoragePath {
        let addition = Self.normalized(path.utf8)
        guard !addition.isEmpty else { return self }
        var bytes = object.bytes
        if let last = bytes.last, last != slash { bytes.append(slash) }
        return StoragePath(bucket: bucket, object: ObjectName(bytes + addition))
    }

    /// What to list for what is directly below: the name and a `/`; nothing at the root.
    var listPrefix: ObjectName {
        guard let last = object.bytes.last, last != slash else { return object }
        return ObjectName(object.bytes + [slash])
    }

    static func normalized(_ path: some Collection<UInt8>) -> [UInt8] {
        Array(path.split(separator: slash).joined(separator: [slash]))
    }

    private static func withoutTrailingSlashes(_ bytes: some BidirectionalCollection<UInt8>) -> [UInt8] {
        var bytes = Array(bytes)
        while bytes.last == slash { bytes.removeLast() }
        return bytes
    }
}

extension StoragePath: CustomStringConvertible {
    var description: String { "gs://\(bucket)/\(object)" }
}

let slash = UInt8(ascii: "/")
