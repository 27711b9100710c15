import Locking
package import ObjectStore

/// A bucket in memory that keeps the rules of a real one exactly, with handles for tests: requests are counted, can be
/// given latency, and can be held until the test lets them go. Reads are delivered in pieces by a thread of its own;
/// other calls take effect on the caller's thread when they have neither latency nor are held.
package final class InMemoryStore: ObjectStore {
    package let abilities: StoreAbilities
    private let bucket = Lock(InMemoryBucket())
    private let readLog = Lock<[ReadRequest]>([])
    private let gate: RequestGate
    /// What requests pass once they have taken effect.
    private let answers: RequestGate
    private let queue = TimedQueue()
    private let delivery: ReadDelivery

    /// - Parameters:
    ///   - pieceSize: bytes in one call of a `ReadReceiver`.
    ///   - pieceInterval: from one piece of a read to its next: a connection's speed.
    package init(
        abilities: StoreAbilities = StoreAbilities(listsMetadata: true, checksPreconditions: true, composes: true),
        pieceSize: Int = 64 << 10, pieceInterval: Duration = .zero
    ) {
        self.abilities = abilities
        gate = RequestGate(queue: queue)
        answers = RequestGate(queue: queue)
        delivery = ReadDelivery(queue: queue, pieceSize: pieceSize, pieceInterval: pieceInterval)
    }

    // MARK: What a test arranges and looks at; no request, not counted

    /// Stores an object as another client would.
    @discardableResult
    package func put(_ name: ObjectName, _ bytes: [UInt8], headers: ObjectHeaders = ObjectHeaders()) -> ObjectMetadata {
        bucket.withLock { bucket in
            do throws(StorageError) {
                return try bucket.store(name, bytes, headers: headers)
            } catch { preconditionFailure("\(error)") }
        }
    }

    @discardableResult
    package func put(_ name: String, _ bytes: [UInt8] = [], headers: ObjectHeaders = ObjectHeaders()) -> ObjectMetadata
    {
        put(ObjectName(name), bytes, headers: headers)
    }

    /// Changes metadata as another client would. The object must exist.
    @discardableResult
    package func change(_ name: ObjectName, _ patch: MetadataPatch) -> ObjectMetadata {
        bucket.withLock { bucket in
            do throws(StorageError) {
                return try bucket.patch(name, patch)
            } catch { preconditionFailure("\(error)") }
        }
    }

    /// Deletes as another client would; false if there is no such object.
    @discardableResult
    package func remove(_ name: ObjectName) -> Bool {
        bucket.withLock { bucket in
            do throws(StorageError) {
                try bucket.remove(name)
                return true
            } catch { return false }
        }
    }

    /// Another store with what this one has now.
    package func copy() -> InMemoryStore {
        let copy = InMemoryStore()
        let objects = bucket.withLock { $0 }
        copy.bucket.withLock { $0 = objects }
        return copy
    }

    /// The bucket's clock moves on.
    package func passTime(seconds: Int64) { bucket.withLock { $0.passTime(seconds: seconds) } }

    /// All names, in byte order.
    package var names: [ObjectName] { bucket.withLock { $0.names } }

    package func bytes(of name: ObjectName) -> [UInt8]? { bucket.withLock { $0[name]?.bytes } }

    package func object(_ name: ObjectName) -> ObjectMetadata? { bucket.withLock { $0[name]?.metadata } }

    // MARK: Requests

    /// Requests that came, by operation, failed ones included.
    package var counts: [StoreOperation: Int] { gate.counts }

    /// All requests that came.
    package var requestCount: Int { counts.values.reduce(0, +) }

    /// Every read that came, in order.
    package var reads: [ReadRequest] { readLog.withLock { $0 } }

    package func resetCounts() {
        gate.resetCounts()
        readLog.withLock { $0 = [] }
    }

    /// From now on each request takes effect so long after it came.
    package func setLatency(_ latency: Duration) { gate.setLatency { _ in latency } }

    /// `latency` is asked for each request; it must be quick and not call the store.
    package func setLatency(_ latency: @escaping @Sendable (StoreOperation) -> Duration) { gate.setLatency(latency) }

    /// From now on requests of `operation` wait, before they take effect, until they are released.
    package func hold(_ operation: StoreOperation) { gate.hold(operation) }

    /// Lets all held requests of `operation` go, in order, and holds no more.
    package func release(_ operation: StoreOperation) { gate.release(operation) }

    /// Lets the oldest held request of `operation` go; false if none is held.
    @discardableResult
    package func releaseOne(_ operation: StoreOperation) -> Bool { gate.releaseOne(operation) }

    /// From now on `watcher` is called after each piece of a read, before the next comes, with where in the object it
    /// ended.
    package func watchReads(_ watcher: (@Sendable (Int) -> Void)?) { delivery.watcher.withLock { $0 = watcher } }

    package func heldCount(_ operation: StoreOperation) -> Int { gate.heldCount(operation) }

    /// Returns once at least `count` requests of `operation` are held.
    package func waitUntilHeld(_ operation: StoreOperation, count: Int = 1) async {
        await gate.waitUntilHeld(operation, count: count)
    }

    /// From now on the answers to changes by `operation` wait: the bucket has changed, and who asked does not know.
    package func holdAnswers(to operation: StoreOperation) { answers.hold(operation) }

    /// Lets all held answers go, and holds no more.
    package func releaseAnswers(to operation: StoreOperation) { answers.release(operation) }

    /// Returns once at least `count` answers are held.
    package func waitUntilAnswersHeld(to operation: StoreOperation, count: Int = 1) async {
        await answers.waitUntilHeld(operation, count: count)
    }

    // MARK: ObjectStore

    package func list(_ query: ListQuery) async throws(StorageError) -> ListPage {
        try await gate.pass(.list, object: query.prefix)
        var page = try bucket.withLock { (bucket) throws(StorageError) in try bucket.list(query) }
        if !abilities.listsMetadata {
            page.names = page.items.map(\.name).filter { !$0.hasEmptySegment }
            page.items = []
        }
        return page
    }

    package func metadata(of name: ObjectName) async throws(StorageError) -> ObjectMetadata {
        try await gate.pass(.metadata, object: name)
        return try bucket.withLock { (bucket) throws(StorageError) in try bucket.existing(name, for: .metadata).metadata
        }
    }

    @discardableResult
    package func read(_ request: ReadRequest, into receiver: any ReadReceiver) -> any StoreTransfer {
        readLog.withLock { $0.append(request) }
        let transfer = InMemoryTransfer(request: request, receiver: receiver)
        let ticket = gate.admit(.read) { [delivery, self] isAdmitted in
            delivery.start(transfer) { () throws(StorageError) in
                guard isAdmitted else { throw transfer.cancelled }
                return try self.bucket.withLock { (bucket) throws(StorageError) in
                    try bucket.existing(request.name, for: .read)
                }
            }
        }
        transfer.whenCancelled { [gate] in gate.cancel(ticket) }
        return transfer
    }

    package func insert(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        let grown = upload.growth == nil ? nil : try await upload.grownBytes()
        upload.control?.report { $0.total = upload.source.size }
        try await pass(upload)
        let bytes = if let grown { grown } else { try upload.bytes() }
        let metadata = try await change(.insert, if: upload.precondition, on: upload.name) {
            (bucket) throws(StorageError) in
            try bucket.store(upload.name, bytes, headers: upload.headers)
        }
        upload.didConfirm(upTo: metadata.size)
        return metadata
    }

    /// Waits for its turn as the upload's control says: a pause drops the request, and another comes after it.
    private func pass(_ upload: Upload) async throws(StorageError) {
        let gate = gate
        while await upload.mayGoOn() {
            let passed: Void? = try await upload.run { () async throws(StorageError) in
                try await gate.pass(.insert, object: upload.name)
            }
            if passed != nil { return }
        }
        throw StorageError(.cancelled, operation: "insert", object: upload.name, message: "cancelled")
    }

    package func patch(
        _ name: ObjectName, _ patch: MetadataPatch, if precondition: Precondition
    ) async throws(StorageError) -> ObjectMetadata {
        try await gate.pass(.patch, object: name)
        return try await change(.patch, if: precondition, on: name, mustExist: true) { (bucket) throws(StorageError) in
            try bucket.patch(name, patch)
        }
    }

    package func copy(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        try await gate.pass(.copy, object: copy.source)
        return try await change(.copy, if: copy.precondition, on: copy.destination) { (bucket) throws(StorageError) in
            try bucket.copy(copy, for: .copy)
        }
    }

    package func move(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        try await gate.pass(.move, object: copy.source)
        guard copy.source != copy.destination else {
            throw StorageError(
                .invalidRequest, operation: "move", object: copy.source, httpStatus: 400, message: "onto itself")
        }
        return try await change(.move, if: copy.precondition, on: copy.destination) { (bucket) throws(StorageError) in
            let moved = try bucket.copy(copy, for: .move)
            try bucket.remove(copy.source)
            return moved
        }
    }

    package func compose(_ composition: Composition) async throws(StorageError) -> ObjectMetadata {
        try await gate.pass(.compose, object: composition.destination)
        guard abilities.composes else {
            throw StorageError(
                .unsupported, operation: "compose", object: composition.destination, message: "cannot compose")
        }
        return try await change(.compose, if: composition.precondition, on: composition.destination) {
            (bucket) throws(StorageError) in try bucket.compose(composition)
        }
    }

    package func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        try await gate.pass(.delete, object: name)
        try await change(.delete, if: precondition, on: name, mustExist: true) { (bucket) throws(StorageError) in
            try bucket.remove(name)
        }
    }

    /// Checks and changes in one step, as a bucket does.
    private func change<Result>(
        _ operation: StoreOperation, if precondition: Precondition, on name: ObjectName, mustExist: Bool = false,
        _ body: (inout InMemoryBucket) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        let result = try bucket.withLock { (bucket) throws(StorageError) in
            if mustExist { _ = try bucket.existing(name, for: operation) }
            if abilities.checksPreconditions { try bucket.check(precondition, on: name, for: operation) }
            return try body(&bucket)
        }
        try await answers.pass(operation, object: name)
        return result
    }
}

extension ObjectName {
    /// Such names show in no list of names (PROTOCOL 1.6): placeholders, and what has two slashes in a row.
    fileprivate var hasEmptySegment: Bool {
        let slash = UInt8(ascii: "/")
        let rest = bytes.first == slash ? bytes.dropFirst() : bytes[...]
        return rest.split(separator: slash, omittingEmptySubsequences: false).contains { $0.isEmpty }
    }
}

extension Upload {
    /// Everything the source has, checked against its checksum.
    fileprivate func bytes() throws(StorageError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(source.size))
        var filled = 0
        do {
            while filled < bytes.count {
                let count = try unsafe bytes.withUnsafeMutableBytes { buffer in
                    try unsafe source.read(
                        at: Int64(filled), into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                }
                guard count > 0 else { break }
                filled += count
            }
        } catch {
            throw StorageError(.sourceFailed, operation: "insert", object: name, message: "\(error)")
        }
        guard filled == bytes.count else {
            throw StorageError(.sourceFailed, operation: "insert", object: name, message: "ends at \(filled)")
        }
        return try checked(bytes)
    }

    /// Everything the source has once it is whole, taken as it comes. What it tells of headers at the end is ignored,
    /// as by servers that fix them when an upload begins.
    fileprivate func grownBytes() async throws(StorageError) -> [UInt8] {
        let cancelled = StorageError(.cancelled, operation: "insert", object: name, message: "cancelled")
        var bytes: [UInt8] = []
        while await mayGoOn() {
            let count = Int64(bytes.count)
            guard let growth, let next = await run({ await growth.next(beyond: count) }) else { continue }
            switch next {
            case .more(let end): try take(upTo: end, into: &bytes)
            case .ended:
                try take(upTo: source.size, into: &bytes)
                return try checked(bytes)
            case .abandoned: throw cancelled
            }
        }
        throw cancelled
    }

    private func take(upTo end: Int64, into bytes: inout [UInt8]) throws(StorageError) {
        var piece = [UInt8](repeating: 0, count: Int(end) - bytes.count)
        let offset = Int64(bytes.count)
        do {
            let count = try unsafe piece.withUnsafeMutableBytes { try unsafe source.read(at: offset, into: $0) }
            bytes += piece[..<count]
            didConfirm(upTo: Int64(bytes.count))
        } catch {
            throw StorageError(.sourceFailed, operation: "insert", object: name, message: "\(error)")
        }
    }

    private func checked(_ bytes: [UInt8]) throws(StorageError) -> [UInt8] {
        guard crc32c(of: bytes) == source.crc32c else {
            throw StorageError(
                .corrupted, operation: "insert", object: name, httpStatus: 400, message: "crc32c differs")
        }
        return bytes
    }
}
