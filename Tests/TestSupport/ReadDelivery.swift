import Locking
import ObjectStore

/// Hands an object's bytes to receivers in pieces, on the store's thread; several reads take turns.
final class ReadDelivery: Sendable {
    private let queue: TimedQueue
    private let pieceSize: Int
    private let pieceInterval: Duration
    /// Called on the store's thread after each piece, with where in the object it ended.
    let watcher = Lock<(@Sendable (Int) -> Void)?>(nil)

    init(queue: TimedQueue, pieceSize: Int, pieceInterval: Duration) {
        self.queue = queue
        self.pieceSize = pieceSize
        self.pieceInterval = pieceInterval
    }

    /// - Parameter object: looks the object up, on the store's thread.
    func start(
        _ transfer: InMemoryTransfer, _ object: @escaping @Sendable () throws(StorageError) -> InMemoryBucket.Object
    ) {
        queue.run {
            do throws(StorageError) {
                let object = try object()
                let range = try transfer.range(in: object)
                transfer.receiver.received(
                    ReadHead(
                        objectGeneration: object.metadata.objectGeneration,
                        metageneration: object.metadata.metageneration,
                        objectSize: object.metadata.size, count: Int64(range.count), crc32c: object.metadata.crc32c))
                self.deliver(range, of: object.bytes, to: transfer, after: .zero)
            } catch {
                transfer.receiver.completed(.failure(error))
            }
        }
    }

    private func deliver(
        _ range: Range<Int>, of bytes: [UInt8], to transfer: InMemoryTransfer, after interval: Duration
    ) {
        guard !transfer.isCancelled else { return transfer.receiver.completed(.failure(transfer.cancelled)) }
        guard !range.isEmpty else { return transfer.receiver.completed(.success(())) }
        queue.run(after: interval) {
            let piece = range.prefix(self.pieceSize)
            if !transfer.isCancelled {
                unsafe bytes.withUnsafeBytes { buffer in
                    unsafe transfer.receiver.received(UnsafeRawBufferPointer(rebasing: buffer[piece]))
                }
                self.watcher.withLock { $0 }?(piece.upperBound)
            }
            self.deliver(piece.upperBound..<range.upperBound, of: bytes, to: transfer, after: self.pieceInterval)
        }
    }
}

/// A read under way.
final class InMemoryTransfer: StoreTransfer {
    private enum State {
        case running(onCancel: (@Sendable () -> Void)?)
        case cancelled
    }

    let request: ReadRequest
    let receiver: any ReadReceiver
    private let state = Lock(State.running(onCancel: nil))

    init(request: ReadRequest, receiver: any ReadReceiver) {
        self.request = request
        self.receiver = receiver
    }

    var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    var cancelled: StorageError {
        StorageError(.cancelled, operation: "read", object: request.name, message: "cancelled")
    }

    func cancel() {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            defer { state = .cancelled }
            if case .running(let onCancel) = state { return onCancel }
            return nil
        }
        action?()
    }

    /// `action` runs once if the transfer is cancelled, at once if it already was.
    func whenCancelled(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if case .cancelled = state { return true }
            state = .running(onCancel: action)
            return false
        }
        if isLate { action() }
    }

    /// Which bytes the request means; checks the generation first, as a server does.
    func range(in object: InMemoryBucket.Object) throws(StorageError) -> Range<Int> {
        if isCancelled { throw cancelled }
        if let wanted = request.objectGeneration, wanted != object.metadata.objectGeneration {
            throw StorageError(
                .generationChanged, operation: "read", object: request.name,
                message: "generation \(object.metadata.objectGeneration) instead of \(wanted)")
        }
        let size = object.bytes.count
        if request.offset == 0, size == 0 { return 0..<0 }
        guard request.offset < Int64(size) else {
            throw StorageError(
                .rangeNotSatisfiable, operation: "read", object: request.name, httpStatus: 416,
                message: "\(request.offset) of \(size)")
        }
        let count = min(request.count ?? Int64.max, Int64(size) - request.offset)
        return Int(request.offset)..<Int(request.offset + count)
    }
}
