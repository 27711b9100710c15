import ObjectStore

/// A place in a bucket where an object is, or may be. Making one asks nothing of the service. Any thread may use it.
///
/// Names are bytes: they are compared as such, and never normalised.
public final class StorageReference: Sendable {
    public let storage: Storage
    let location: StoragePath

    init(storage: Storage, path: StoragePath) {
        self.storage = storage
        location = path
    }

    public var bucket: String { location.bucket }

    /// The object's name in the bucket; empty at the root.
    public var fullPath: String { location.object.description }

    /// The last component of `fullPath`; empty at the root.
    public var name: String { location.name }

    /// The bucket's root.
    public func root() -> StorageReference { StorageReference(storage: storage, path: location.root) }

    /// One component up; nil at the root.
    public func parent() -> StorageReference? {
        location.parent.map { StorageReference(storage: storage, path: $0) }
    }

    /// `path` below this. Runs of `/` count as one and those at the ends not at all; `.` and `..` are names like
    /// others, and nothing is decoded.
    ///
    /// Differs: a root is a root, however it was reached; elsewhere `child("/")` and `reference()` are not equal.
    public func child(_ path: String) -> StorageReference {
        StorageReference(storage: storage, path: location.child(path))
    }

    public func isEqual(_ object: Any?) -> Bool { (object as? StorageReference) == self }

    public var hash: Int { hashValue }

    public func copy() -> StorageReference { StorageReference(storage: storage, path: location) }

    /// - Throws: `.invalidArgument` at the root, which no object is.
    func requireObject(for operation: String) throws(StorageError) {
        guard !location.isRoot else {
            throw .invalidArgument(
                message: "\(operation) needs an object: \(self) is the root of a bucket. Use child(_:) to name one.")
        }
    }
}

extension StorageReference: Hashable, CustomStringConvertible {
    public static func == (left: StorageReference, right: StorageReference) -> Bool {
        left.storage == right.storage && left.location == right.location
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(location) }

    /// `gs://BUCKET/NAME`.
    public var description: String { location.description }
}
