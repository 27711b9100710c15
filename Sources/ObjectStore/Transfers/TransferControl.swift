import Locking

/// Steers one upload from outside, and shows how far it is. Any thread may call it; one driver at a time obeys it.
///
/// A driver asks `waitUntilRunning` before each request and sends each request through `run`. What it learns of a
/// request that was dropped is nothing: the server may or may not have acted, so it asks before it goes on.
package final class TransferControl: Sendable {
    package enum State: Sendable, Equatable {
        case running
        case paused
        /// For good.
        case cancelled
    }

    private struct Guarded {
        var state = State.running
        var progress = TransferProgress()
        /// Ends the request under way.
        var drop: (@Sendable () -> Void)?
        var wasDropped = false
        var waiter: CheckedContinuation<Void, Never>?

        mutating func change(from expected: State?, to state: State) -> Bool {
            guard self.state != .cancelled, expected == nil || self.state == expected else { return false }
            self.state = state
            return true
        }

        /// The request and the driver that the new state concerns.
        mutating func takeAffected() -> (drop: (@Sendable () -> Void)?, waiter: CheckedContinuation<Void, Never>?) {
            if state != .running, drop != nil { wasDropped = true }
            defer { if state != .paused { waiter = nil } }
            return (state == .running ? nil : drop, state == .paused ? nil : waiter)
        }
    }

    /// What lists and commands call the transfer by.
    package let id: TransferID
    private let guarded = Lock(Guarded())

    package init(id: TransferID = .unlisted) { self.id = id }

    package var state: State { guarded.withLock { $0.state } }
    package var progress: TransferProgress { guarded.withLock { $0.progress } }

    // MARK: Whoever commands

    /// The request under way is dropped, and no other is sent until `resume`.
    package func pause() { change(from: .running, to: .paused) }

    package func resume() { change(from: .paused, to: .running) }

    /// The upload fails with `.cancelled`, and its session at the server ends. Without effect once the bucket has it.
    package func cancel() { change(from: nil, to: .cancelled) }

    private func change(from expected: State?, to state: State) {
        let (drop, waiter) = guarded.withLock { guarded in
            guarded.change(from: expected, to: state) ? guarded.takeAffected() : (nil, nil)
        }
        drop?()
        waiter?.resume()
    }

    // MARK: Whoever drives

    /// Suspends while the transfer is paused, also until the calling task is cancelled.
    /// - Returns: whether it may go on; false: it was cancelled, by `cancel` or with the task.
    package func waitUntilRunning() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = guarded.withLock { guarded in
                    guard guarded.state == .paused, !Task.isCancelled else { return false }
                    precondition(guarded.waiter == nil, "two drivers of one transfer")
                    guarded.waiter = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            let waiter = guarded.withLock { guarded in
                defer { guarded.waiter = nil }
                return guarded.waiter
            }
            waiter?.resume()
        }
        return state != .cancelled && !Task.isCancelled
    }

    /// Runs one request, cancelled with the calling task, or as soon as the transfer is paused or cancelled.
    /// - Parameter isFinal: whether an outcome counts although the request was to be dropped: it was too late for that.
    /// - Returns: what came of it; nil: it was dropped, or the transfer was not running to begin with.
    package func run<Value: Sendable, Failure: Error>(
        keeping isFinal: (Value) -> Bool = { _ in false },
        _ request: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        let task = guarded.withLock { guarded -> Task<Result<Value, Failure>, Never>? in
            guard guarded.state == .running else { return nil }
            let task = Task {
                do throws(Failure) {
                    return Result<Value, Failure>.success(try await request())
                } catch {
                    return .failure(error)
                }
            }
            guarded.drop = { task.cancel() }
            guarded.wasDropped = false
            return task
        }
        guard let task else { return nil }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        let wasDropped = guarded.withLock { guarded in
            guarded.drop = nil
            return guarded.wasDropped
        }
        if wasDropped, (try? result.get()).map(isFinal) != true { return nil }
        return try result.get()
    }

    package func report(_ change: (inout TransferProgress) -> Void) { guarded.withLock { change(&$0.progress) } }
}

/// What lists and commands call a transfer by; unique in one mount, never used again.
package struct TransferID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Of transfers that nobody lists.
    package static let unlisted = TransferID(rawValue: 0)
}

/// How far a transfer is, in bytes of the object.
package struct TransferProgress: Sendable, Equatable {
    /// Handed to the connection; after a lost connection it may go back.
    package var sent: Int64 = 0
    /// The server said that it holds them.
    package var confirmed: Int64 = 0
    /// nil: not known yet.
    package var total: Int64?

    package init() {}
}

extension Upload {
    /// What was commanded, as the event it is to the upload's course; nil: to go on.
    package var command: UploadTransfer.Event? {
        switch control?.state {
        case .paused: .paused
        case .cancelled: .cancelled
        case .running, nil: nil
        }
    }

    /// Whether its driver may go on; suspends while it is paused.
    package func mayGoOn() async -> Bool {
        guard let control else { return !Task.isCancelled }
        return await control.waitUntilRunning()
    }

    /// Runs one request under the upload's control; see `TransferControl.run`.
    package func run<Value: Sendable, Failure: Error>(
        keeping isFinal: (Value) -> Bool = { _ in false },
        _ request: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard let control else { return try await request() }
        return try await control.run(keeping: isFinal, request)
    }

    /// Bytes before `offset` were handed to the connection.
    package func didSend(upTo offset: Int64) {
        control?.report { $0.sent = offset }
        progress?(offset)
    }

    /// The server holds the bytes before `offset`.
    package func didConfirm(upTo offset: Int64) {
        control?.report { progress in
            progress.confirmed = offset
            progress.sent = offset
        }
        progress?(offset)
    }
}
