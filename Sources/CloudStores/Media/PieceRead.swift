import Locking
import ObjectStore

/// Reads a part of an object into memory.
final class PieceRead: ReadReceiver {
    private struct State {
        var bytes: [UInt8] = []
        var waiter: CheckedContinuation<Result<[UInt8], StorageError>, Never>?
        var transfer: (any StoreTransfer)?
        var isCancelled = false
    }

    private let state = Lock(State())

    /// Cancelling the task cancels the read.
    static func run(_ request: ReadRequest, from store: any ObjectStore) async throws(StorageError) -> [UInt8] {
        let read = PieceRead()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                read.state.withLock { $0.waiter = continuation }
                read.follow(store.read(request, into: read))
            }
        } onCancel: {
            read.cancel()
        }
        return try result.get()
    }

    private func follow(_ transfer: any StoreTransfer) {
        let isCancelled = state.withLock { state in
            // One that has completed already is not kept.
            if state.waiter != nil { state.transfer = transfer }
            return state.isCancelled
        }
        if isCancelled { transfer.cancel() }
    }

    private func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    func received(_ head: ReadHead) { state.withLock { $0.bytes.reserveCapacity(Int(clamping: head.count)) } }

    func received(_ bytes: UnsafeRawBufferPointer) { state.withLock { unsafe $0.bytes.append(contentsOf: bytes) } }

    func completed(_ result: Result<Void, StorageError>) {
        let (bytes, waiter) = state.withLock { state in
            defer {
                state.bytes = []
                state.waiter = nil
                state.transfer = nil
            }
            return (state.bytes, state.waiter)
        }
        waiter?.resume(returning: result.map { bytes })
    }
}
