/// A bucket, seen as named objects. The seam between the file system and the wire: real conformers live in CloudStores;
/// an in-memory one and one that fails on demand in the tests' support.
///
/// Every call is retried inside as the protocol's retry rules allow, within the configured time; what is thrown is
/// final. Cancelling the calling task cancels the request and throws `.cancelled`.
package protocol ObjectStore: Sendable {
    var abilities: StoreAbilities { get }

    /// One page of names (with metadata where `abilities.listsMetadata`).
    func list(_ query: ListQuery) async throws(StorageError) -> ListPage

    /// Metadata of the live generation of `name`.
    func metadata(of name: ObjectName) async throws(StorageError) -> ObjectMetadata

    /// Starts a ranged read; see `ReadReceiver` for who is called when. Returns at once.
    @discardableResult
    func read(_ request: ReadRequest, into receiver: any ReadReceiver) -> any StoreTransfer

    /// Stores a whole object in one piece; no one sees a part of it under its name. Answers what the bucket has now.
    func insert(_ upload: Upload) async throws(StorageError) -> ObjectMetadata

    /// Changes metadata alone.
    func patch(_ name: ObjectName, _ patch: MetadataPatch, if precondition: Precondition) async throws(StorageError)
        -> ObjectMetadata

    /// Copies on the server; no bytes travel.
    func copy(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata

    /// Renames within the bucket: one atomic call where the service has it, else copy, then delete of the source.
    func move(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata

    /// Joins up to 32 objects of the bucket into one, on the server.
    func compose(_ composition: Composition) async throws(StorageError) -> ObjectMetadata

    func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError)

    /// A lasting URL that lets everyone who has it read the object.
    /// - Returns: nil if the object has no download token, or the service no such URLs.
    func downloadURL(of object: ObjectMetadata) -> String?

    /// Renames a folder with all that is in it, in one atomic step, where the bucket knows folders; else answers false
    /// and does nothing. Names end in `/`; nothing may be at the destination.
    func moveFolder(_ source: ObjectName, to destination: ObjectName) async throws(StorageError) -> Bool

    /// Removes an empty folder, where the bucket knows folders; else does nothing.
    func removeFolder(_ name: ObjectName) async throws(StorageError)
}

extension ObjectStore {
    package func downloadURL(of object: ObjectMetadata) -> String? { nil }

    package func moveFolder(_ source: ObjectName, to destination: ObjectName) async throws(StorageError) -> Bool {
        false
    }

    package func removeFolder(_ name: ObjectName) async throws(StorageError) {}
}

/// What a store's protocol can do.
package struct StoreAbilities: Sendable, Equatable {
    /// Lists carry full metadata; otherwise names only, and the rest needs one `metadata(of:)` a name.
    package var listsMetadata: Bool
    /// Preconditions are checked by the server.
    package var checksPreconditions: Bool
    package var composes: Bool
    /// Uploads may begin while their source is still growing.
    package var streams: Bool

    package init(listsMetadata: Bool, checksPreconditions: Bool, composes: Bool, streams: Bool = false) {
        self.listsMetadata = listsMetadata
        self.checksPreconditions = checksPreconditions
        self.composes = composes
        self.streams = streams
    }
}

/// Which bytes to read of which generation.
package struct ReadRequest: Sendable {
    package var name: ObjectName
    /// Only this generation may answer: another one fails with `.generationChanged` (or `.notFound`), before any byte
    /// is delivered. nil: whichever is live.
    package var objectGeneration: ObjectGeneration?
    package var offset: Int64
    /// At most this many bytes; the end of the object cuts it. nil: to the end.
    package var count: Int64?

    package init(name: ObjectName, objectGeneration: ObjectGeneration? = nil, offset: Int64 = 0, count: Int64? = nil) {
        self.name = name
        self.objectGeneration = objectGeneration
        self.offset = offset
        self.count = count
    }
}

/// What the head of a media answer says of the object.
package struct ReadHead: Sendable, Equatable {
    package var objectGeneration: ObjectGeneration
    package var metageneration: Metageneration?
    /// Size of the whole stored object.
    package var objectSize: Int64
    /// How many bytes will be delivered.
    package var count: Int64
    /// Of the whole stored object, where the server says it.
    package var crc32c: UInt32?

    package init(
        objectGeneration: ObjectGeneration, metageneration: Metageneration?, objectSize: Int64, count: Int64,
        crc32c: UInt32?
    ) {
        self.objectGeneration = objectGeneration
        self.metageneration = metageneration
        self.objectSize = objectSize
        self.count = count
        self.crc32c = crc32c
    }
}

/// Receives one read: the head once, then exactly `head.count` bytes in order (a retry in the middle is invisible,
/// of the same generation), then one completion. Calls come on the store's transfer thread, one after the other;
/// they must be short and never wait. A failure may come at any point, also as the only call.
///
/// A read whose range begins at or after the object's end fails with `.rangeNotSatisfiable`; but a request at offset 0
/// of an empty object succeeds with `count` 0, whatever the wire answers.
package protocol ReadReceiver: AnyObject, Sendable {
    func received(_ head: ReadHead)
    /// Valid only during the call.
    func received(_ bytes: UnsafeRawBufferPointer)
    func completed(_ result: Result<Void, StorageError>)
}

/// A read under way. Cancelled reads complete with `.cancelled`.
package protocol StoreTransfer: Sendable {
    func cancel()
}

/// A whole object to store.
package struct Upload: Sendable {
    package var name: ObjectName
    package var headers: ObjectHeaders
    package var precondition: Precondition
    package var source: any UploadSource
    /// Called from any thread with bytes confirmed or handed to the connection so far; nil: nobody watches.
    package var progress: (@Sendable (Int64) -> Void)?
    /// Pauses and cancels it; nil: nobody does.
    package var control: TransferControl?
    /// The source is still being written; nil: it is whole. Only for stores that can (`StoreAbilities.streams`).
    package var growth: (any UploadGrowth)?

    package init(
        name: ObjectName, headers: ObjectHeaders, precondition: Precondition, source: any UploadSource,
        progress: (@Sendable (Int64) -> Void)? = nil, control: TransferControl? = nil,
        growth: (any UploadGrowth)? = nil
    ) {
        self.name = name
        self.headers = headers
        self.precondition = precondition
        self.source = source
        self.progress = progress
        self.control = control
        self.growth = growth
    }
}

/// How the source of an upload grows that began before it was whole. Its bytes stay as they are once they are there.
package protocol UploadGrowth: Sendable {
    /// Suspends until there is enough beyond `offset` to be worth a request, or the source has ended. A cancelled task
    /// is answered at once, with `.more` and what there is.
    func next(beyond offset: Int64) async -> Growth
    /// Somebody waits for the upload's end: from then on its time is limited.
    var isAwaited: Bool { get }
}

package enum Growth: Sendable, Equatable {
    /// The first `to` bytes are there.
    case more(to: Int64)
    /// The source is whole; its `size` and `crc32c` hold. The object shall have these headers.
    case ended(ObjectHeaders)
    /// Nothing shall be stored.
    case abandoned
}

/// The bytes of an upload. They stay the same and readable until the upload ends, so that a retry can send them again.
package protocol UploadSource: Sendable {
    /// Of a growing source: once it has ended.
    var size: Int64 { get }
    /// Of all bytes; the store has the server check it, and checks the server's answer against it.
    var crc32c: UInt32 { get }
    /// Fills `buffer` from `offset`; returns how many bytes, at least 1 before the end. Called on the transfer thread:
    /// local and quick. Throws to fail the upload with `.sourceFailed`.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// A copy (or move) on the server.
package struct ObjectCopy: Sendable {
    package var source: ObjectName
    /// The source must still be this generation; nil: whichever is live.
    package var sourceGeneration: ObjectGeneration?
    package var destination: ObjectName
    /// What must hold for the destination.
    package var precondition: Precondition
    /// Metadata for the destination; nil: the source's is taken over whole.
    package var headers: ObjectHeaders?

    package init(
        source: ObjectName, sourceGeneration: ObjectGeneration? = nil, destination: ObjectName,
        precondition: Precondition = .none, headers: ObjectHeaders? = nil
    ) {
        self.source = source
        self.sourceGeneration = sourceGeneration
        self.destination = destination
        self.precondition = precondition
        self.headers = headers
    }
}

/// Objects to join, in order.
package struct Composition: Sendable {
    package var sources: [(name: ObjectName, objectGeneration: ObjectGeneration?)]
    /// May be one of the sources.
    package var destination: ObjectName
    package var headers: ObjectHeaders
    package var precondition: Precondition

    package init(
        sources: [(name: ObjectName, objectGeneration: ObjectGeneration?)], destination: ObjectName,
        headers: ObjectHeaders, precondition: Precondition
    ) {
        self.sources = sources
        self.destination = destination
        self.headers = headers
        self.precondition = precondition
    }
}
