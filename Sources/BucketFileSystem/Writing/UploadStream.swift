import Locking
import ObjectStore

/// An upload that began while its file was still being written (`FileSystem+Streaming.swift`): what it may send, and
/// how it ended. The file's contents tell it of growth and change, under their lock; the store's driver asks from the
/// other side. Lock order: file contents, then this.
///
/// Invariant: what was below `end` when it was handed out has not changed, or the stream is broken and stores nothing.
final class UploadStream: UploadSource, UploadGrowth {
    typealias Outcome = Result<ObjectMetadata, StorageError>

    /// What came of finishing it.
    enum Ending {
        case stored(ObjectMetadata)
        case failed(StorageError)
        /// It had broken or failed before: the file is to be stored as if there had been no stream.
        case unusable
    }

    private struct Whole {
        let size: Int64
        let crc32c: UInt32
        let headers: ObjectHeaders
    }

    private struct State {
        var end: Int64
        var whole: Whole?
        var isBroken = false
        var waiter: (offset: Int64, continuation: CheckedContinuation<Growth, Never>)?
        var upload: Task<Outcome, Never>?
        /// It ended before it was finished.
        var hasFailed = false

        /// nil: not worth a request yet.
        func growth(beyond offset: Int64, piece: Int64) -> Growth? {
            if isBroken { return .abandoned }
            if let whole { return .ended(whole.headers) }
            return end - offset >= piece ? .more(to: end) : nil
        }

        mutating func takeAnswer(_ piece: Int64) -> (Growth, CheckedContinuation<Growth, Never>)? {
            guard let waiter, let growth = growth(beyond: waiter.offset, piece: piece) else { return nil }
            self.waiter = nil
            return (growth, waiter.continuation)
        }
    }

    /// Under which it was begun; finished under others, it is of no use.
    let name: ObjectName
    let precondition: Precondition
    let headersAtStart: ObjectHeaders
    let control: TransferControl
    private let file: StagingFile
    /// Fewer bytes are not worth a request.
    private let piece: Int64
    private let state: Lock<State>

    /// - Parameter end: the first so many bytes of the file are there.
    init(
        _ upload: (name: ObjectName, precondition: Precondition, headers: ObjectHeaders), file: StagingFile,
        end: Int64, piece: Int64, control: TransferControl
    ) {
        (name, precondition, headersAtStart) = upload
        self.file = file
        self.piece = piece
        self.control = control
        state = Lock(State(end: end))
    }

    /// - Parameter ended: called once it has ended, however.
    func start(_ store: any ObjectStore, ended: @escaping @Sendable () -> Void) {
        let upload = Upload(
            name: name, headers: headersAtStart, precondition: precondition, source: self, control: control,
            growth: self)
        let task = Task { () -> Outcome in
            let outcome: Outcome
            do throws(StorageError) {
                outcome = .success(try await store.insert(upload))
            } catch {
                outcome = .failure(error)
            }
            state.withLock { $0.hasFailed = $0.whole == nil }
            ended()
            return outcome
        }
        state.withLock { $0.upload = task }
    }

    // MARK: The file's side

    /// The file's first `end` bytes are there.
    func grew(to end: Int64) {
        let answer = state.withLock { state in
            state.end = max(state.end, end)
            return state.takeAnswer(piece)
        }
        if let (growth, continuation) = answer { continuation.resume(returning: growth) }
    }

    /// Bytes at and above `offset` are about to change. True: this breaks the stream; call `abandon` when no lock is
    /// held any more.
    func breaks(byChangeAt offset: Int64) -> Bool {
        state.withLock { state in
            if offset < state.end { state.isBroken = true }
            return state.isBroken
        }
    }

    /// Nothing of it shall be stored. One that is being finished is not cut off: the server may have all of it.
    func abandon() {
        let (isFinishing, answer) = state.withLock { state in
            state.isBroken = true
            return (state.whole != nil, state.takeAnswer(piece))
        }
        if !isFinishing { control.cancel() }
        if let (growth, continuation) = answer { continuation.resume(returning: growth) }
    }

    /// The file is whole: sends the rest, and answers once the bucket has it. Changes at or above `size` do not matter
    /// any more.
    func finish(size: Int64, crc32c: UInt32, headers: ObjectHeaders) async -> Ending {
        let upload = state.withLock { state -> Task<Outcome, Never>? in
            guard !state.isBroken, !state.hasFailed else { return nil }
            state.whole = Whole(size: size, crc32c: crc32c, headers: headers)
            return state.upload
        }
        grew(to: size)
        guard let upload else { return control.state == .cancelled && !isBroken ? .failed(cancelled) : .unusable }
        switch await upload.value {
        case .success(let object): return .stored(object)
        case .failure(let error): return .failed(error)
        }
    }

    private var isBroken: Bool { state.withLock { $0.isBroken } }

    private var cancelled: StorageError {
        StorageError(.cancelled, operation: "insert", object: name, message: "cancelled")
    }

    // MARK: The driver's side

    var size: Int64 { state.withLock { $0.whole?.size ?? 0 } }
    var crc32c: UInt32 { state.withLock { $0.whole?.crc32c ?? 0 } }
    var isAwaited: Bool { state.withLock { $0.whole != nil } }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let end = state.withLock { $0.end }
        let count = Int(min(Int64(buffer.count), end - offset))
        try unsafe file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
        // What was changed while it was read is of no state.
        guard !isBroken else { throw StagedSource.Changed() }
        return count
    }

    func next(beyond offset: Int64) async -> Growth {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let growth = state.withLock { state -> Growth? in
                    if let growth = state.growth(beyond: offset, piece: piece) { return growth }
                    if Task.isCancelled { return .more(to: state.end) }
                    state.waiter = (offset, continuation)
                    return nil
                }
                if let growth { continuation.resume(returning: growth) }
            }
        } onCancel: {
            let (end, waiter) = state.withLock { state in
                defer { state.waiter = nil }
                return (state.end, state.waiter)
            }
            waiter?.continuation.resume(returning: .more(to: end))
        }
    }
}
