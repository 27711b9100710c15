import HTTPTransport
import Logging
import ObjectStore

/// One upload's dialogue with the server: does what an `UploadTransfer` says and tells it what came of it.
struct ResumableUpload {
    private let dialect: any UploadDialect
    private var upload: Upload
    /// As the sessions begin; a growing source may end with other headers.
    private let begun: Upload
    /// Has the source get bytes ready before they are sent; nil: it has them all.
    private let prepare: (@Sendable (Range<Int64>) async throws(StorageError) -> Void)?
    private var transfer: UploadTransfer
    private var retries: RetryState
    /// What must hold when the object comes about.
    private var precondition: Precondition
    private var session: UploadSession?
    /// From the last answer that said that the upload is complete.
    private var object: ObjectMetadata?
    /// What a session made of the bytes by mistake: it is under the name now.
    private var wrong: (object: ObjectMetadata, difference: String)?

    private var caller: ServiceCaller { dialect.caller }
    private var isGrowing: Bool { transfer.size == nil }

    /// - Parameter chunkSize: bytes in a request; nil: all in one.
    init(
        _ upload: Upload, in dialect: any UploadDialect, chunkSize: Int64?,
        prepare: (@Sendable (Range<Int64>) async throws(StorageError) -> Void)? = nil
    ) {
        self.dialect = dialect
        self.upload = upload
        begun = upload
        self.prepare = prepare
        precondition = upload.precondition
        transfer = UploadTransfer(size: upload.growth == nil ? upload.source.size : nil, chunkSize: chunkSize)
        retries = dialect.caller.newRetries()
    }

    mutating func run() async throws(StorageError) -> ObjectMetadata {
        do throws(StorageError) {
            var action = transfer.firstAction
            while true {
                if let event = command(before: action) { action = transfer.next(after: event) }
                switch action {
                case .start: action = transfer.next(after: try await start())
                case .send(let offset, let count, let isLast):
                    action = transfer.next(after: try await send(offset..<offset + count, isLast: isLast))
                case .query: action = transfer.next(after: try await query())
                case .awaitGrowth(let offset): action = transfer.next(after: await growth(beyond: offset))
                case .wait: action = transfer.next(after: await upload.mayGoOn() ? resumed() : .cancelled)
                case .discard:
                    await discard()
                    action = transfer.next(after: .discarded)
                case .finish:
                    guard let object else { throw failure(.malformedAnswer, "the upload ended without an object") }
                    upload.didConfirm(upTo: upload.source.size)
                    return object
                case .fail(let reason): throw failure(reason)
                }
            }
        } catch {
            caller.gaveUp(retries)
            return try await settle(error)
        }
    }

    /// After the dialogue failed: what the bucket has, if it is ours all the same.
    private func settle(_ error: StorageError) async throws(StorageError) -> ObjectMetadata {
        if let wrong, upload.precondition.object == .mustNotExist {
            // Nobody asked for it, and nothing was there before.
            try? await dialect.delete(upload.name, if: .mustBe(wrong.object.objectGeneration))
        }
        switch error.kind {
        // The last bytes may have arrived although their answer did not, or arrived damaged.
        case .preconditionFailed where retries.isAmbiguous && !isGrowing, .malformedAnswer where !isGrowing:
            do throws(StorageError) { return try await dialect.ownSuccess(upload, error) } catch {
                guard upload.headers != begun.headers else { throw error }
            }
            var begunAndEnded = upload
            begunAndEnded.headers = begun.headers
            return try await dialect.ownSuccess(begunAndEnded, error)
        case .cancelled where Task.isCancelled, .sourceFailed: await discard()
        default: break
        }
        throw error
    }

    // MARK: Commands

    /// What was commanded meanwhile, for an action that would send something.
    private func command(before action: UploadTransfer.Action) -> UploadTransfer.Event? {
        switch action {
        case .start, .send, .query: upload.command
        case .awaitGrowth, .wait, .discard, .finish, .fail: nil
        }
    }

    /// A request was dropped: paused or cancelled, and maybe resumed already.
    private mutating func dropped() -> UploadTransfer.Event {
        retries.becameAmbiguous()
        return upload.command ?? .interrupted
    }

    /// The rest was no failure to make progress.
    private mutating func resumed() -> UploadTransfer.Event {
        retries.progressed()
        return .resumed
    }

    /// Tells the server that nothing more will come; what it answers changes nothing. Not cancelled with the task,
    /// which may be why the session ends.
    private func discard() async {
        guard let session else { return }
        var request = dialect.discarding(session)
        request.deadline = min(retries.remaining, .seconds(5))
        let (caller, discarded) = (self.caller, request)
        await Task { _ = try? await caller.answer(to: discarded, bodyLimit: 1 << 20) }.value
    }

    // MARK: Requests

    private mutating func start() async throws(StorageError) -> UploadTransfer.Event {
        let (caller, opening) = (self.caller, dialect.opening(begun, precondition))
        guard let outcome = await upload.run({ await caller.perform(opening) }) else { return dropped() }
        guard var session = dialect.session(try outcome.result.get()) else {
            throw failure(.malformedAnswer, "the server opened an upload and named no address for it")
        }
        try checkSecrecy(of: session)
        session.headers = begun.headers
        self.session = session
        transfer.granularity = session.granularity
        retries.progressed()
        return .opened
    }

    /// The bytes, and the address itself, must not travel in the clear.
    private func checkSecrecy(of session: UploadSession) throws(StorageError) {
        guard RequestURL.isPlainHTTP(session.address) else { return }
        guard !dialect.endpoint.isEncrypted, RequestURL.isLoopback(session.address) == true else {
            throw failure(.malformedAnswer, "the server wants the upload over plain http")
        }
    }

    private mutating func send(
        _ range: Range<Int64>, isLast: Bool
    ) async throws(StorageError) -> UploadTransfer.Event {
        guard let session else { return .sessionLost }
        try await makeReady(range, isLast: isLast)
        let body = UploadBody(upload, range, clock: caller.clock)
        var request = dialect.sending(range, isLast: isLast, of: upload, to: session)
        request.body = body.body
        let event = try await exchange(request, range, body)
        return event == .completed ? try judged() : event
    }

    private func makeReady(_ range: Range<Int64>, isLast: Bool) async throws(StorageError) {
        do {
            try await prepare?(range)
            if isLast { try await dialect.checkBeforeEnd(upload, precondition) }
        } catch {
            await discard()
            throw error
        }
    }

    private mutating func query() async throws(StorageError) -> UploadTransfer.Event {
        guard let session else { return .sessionLost }
        let event = try await exchange(dialect.asking(about: upload, in: session), nil, nil)
        return event == .completed ? try judged() : event
    }

    /// Whether the object that the server made is the one we sent. Another one is under the name now; that, and
    /// nothing else, may be replaced by the next session.
    private mutating func judged() throws(StorageError) -> UploadTransfer.Event {
        guard let object else { return .completed }
        let difference = isGrowing ? "it ends before its source" : upload.difference(from: object)
        guard let difference else { return .completed }
        guard object.name == upload.name else { throw failure(.corrupted, "the bucket stored another: \(difference)") }
        caller.log(.warning, "insert \(upload.name): the server stored something else: \(difference)")
        wrong = (object, difference)
        precondition.mayReplace(object.objectGeneration)
        return .completedWrongly
    }

    private mutating func growth(beyond offset: Int64) async -> UploadTransfer.Event {
        guard let growth = upload.growth else { return .interrupted }
        guard let grown = await upload.run({ await growth.next(beyond: offset) }) else { return dropped() }
        retries.progressed()
        switch grown {
        case .more(let end): return Task.isCancelled ? .cancelled : .grew(to: end)
        case .ended(let headers):
            upload.headers = headers
            let size = upload.source.size
            upload.control?.report { $0.total = size }
            return .ended(size: size)
        case .abandoned: return .cancelled
        }
    }

    /// Sends one request of the session; waits before the next one if it failed or brought nothing.
    private mutating func exchange(
        _ request: HTTPRequest, _ range: Range<Int64>?, _ body: UploadBody?
    ) async throws(StorageError) -> UploadTransfer.Event {
        var request = request
        request.stallLimit = caller.stallLimit(.repeatable, remaining: retries.remaining)
        let (caller, sent) = (self.caller, request)
        let answer: HTTPAnswer
        do throws(ServiceCaller.Setback) {
            let received = try await upload.run(keeping: { (200...201).contains($0.status) }) {
                () async throws(ServiceCaller.Setback) in
                try await caller.answer(to: sent, bodyLimit: 1 << 20, carrying: body)
            }
            guard let received else { return dropped() }
            answer = received
        } catch {
            if let body { retries.moved(body) }
            return try await interruption(error)
        }
        switch try dialect.reply(in: answer, to: range, of: upload) {
        case .stored(let offset): return try await stored(upTo: offset, isQuery: range == nil)
        case .complete(let object):
            self.object = if let object { object } else { try await dialect.metadata(of: upload.name) }
            return .completed
        case .lost: return .sessionLost
        case .outOfStep(let refusal):
            try await pause(after: .damaged, refusal.error("insert", upload.name))
            return .interrupted
        case .refused(let refusal): return try await interruption(.refused(refusal))
        }
    }

    // MARK: What comes of them

    private mutating func stored(
        upTo offset: Int64, isQuery: Bool
    ) async throws(StorageError) -> UploadTransfer.Event {
        if offset > transfer.confirmed {
            retries.progressed()
            upload.didConfirm(upTo: offset)
        } else if !isQuery {
            // It answers and takes nothing. A pause each time keeps that from going on for ever.
            try await pause(after: .damaged, failure(.serverFailed, "the server takes no more bytes"))
        }
        return .stored(upTo: offset)
    }

    private mutating func interruption(
        _ setback: ServiceCaller.Setback
    ) async throws(StorageError) -> UploadTransfer.Event {
        try await pause(after: setback.failure, setback.error("insert", upload.name))
        return .interrupted
    }

    private mutating func pause(
        after failure: RetryPolicy.Failure, _ error: StorageError
    ) async throws(StorageError) {
        // As long as nobody waits, the network may be away for as long as it likes.
        if let growth = upload.growth, !growth.isAwaited { retries.progressed() }
        guard let pause = caller.pause(after: failure, .repeatable, &retries) else { throw error }
        caller.log(.info, "\(error); again in \(pause.milliseconds) ms")
        let (caller, name) = (self.caller, upload.name)
        // Dropped, it ends early; what was commanded is found before the next request.
        _ = try await upload.run { () async throws(StorageError) in try await caller.sleep(pause, "insert", name) }
    }

    private func failure(_ reason: UploadTransfer.Failure) -> StorageError {
        switch reason {
        case .tooManySessions:
            if let wrong {
                failure(.corrupted, "the bucket stored something else each time: \(wrong.difference)")
            } else {
                failure(.serverFailed, "the server lost the upload too often")
            }
        case .storedBeyondSent(let offset):
            failure(.malformedAnswer, "the server claims \(offset) bytes, more than it was sent")
        case .outOfTurn: failure(.malformedAnswer, "the server's answer makes no sense at this point")
        case .cancelled: .cancelled("insert", upload.name)
        }
    }

    private func failure(_ kind: StorageError.Kind, _ message: String) -> StorageError {
        StorageError(kind, operation: "insert", object: upload.name, message: message)
    }
}

extension Precondition {
    /// A piece or a damaged form of what we upload came under the name, by us: it is what is replaced now.
    mutating func mayReplace(_ wrong: ObjectGeneration) {
        if object != nil { object = .mustBe(wrong) }
        metageneration = nil
    }
}
