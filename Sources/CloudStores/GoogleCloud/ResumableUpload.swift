import HTTPTransport
import Logging
import ObjectStore

/// `POST /upload/…/o?uploadType=resumable`, then `PUT`s to the session (PROTOCOL 4.5).
extension GoogleCloudStore {
    func insertResumably(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        var dialogue = ResumableUpload(store: self, upload: upload)
        let object = try await dialogue.run()
        upload.didConfirm(upTo: upload.source.size)
        return object
    }
}

/// One upload's dialogue with the server: does what an `UploadTransfer` says and tells it what came of it.
private struct ResumableUpload {
    private let store: GoogleCloudStore
    private let upload: Upload
    private var transfer: UploadTransfer
    private var retries: RetryState
    /// What must hold when a session begins.
    private var precondition: Precondition
    /// The session's address: a secret.
    private var session = ""
    /// From the last answer that said that the upload is complete.
    private var object: ObjectMetadata?

    private var caller: ServiceCaller { store.caller }

    init(store: GoogleCloudStore, upload: Upload) {
        self.store = store
        self.upload = upload
        precondition = upload.precondition
        transfer = UploadTransfer(size: upload.source.size, chunkSize: store.configuration.chunkSize)
        retries = RetryState(policy: store.caller.policy, clock: store.caller.clock)
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
                case .wait: action = transfer.next(after: await upload.mayGoOn() ? resumed() : .cancelled)
                case .discard:
                    await discard()
                    action = transfer.next(after: .discarded)
                case .finish:
                    guard let object else { throw failure(.malformedAnswer, "the upload ended without an object") }
                    return object
                case .fail(let reason): throw failure(reason)
                }
            }
        } catch {
            switch error.kind {
            // The last bytes may have arrived although their answer did not, or arrived damaged.
            case .preconditionFailed where retries.isAmbiguous: break
            case .malformedAnswer: break
            case .cancelled where Task.isCancelled && !session.isEmpty:
                await discard()
                throw error
            default: throw error
            }
            return try await store.ownSuccess(upload, error)
        }
    }

    /// What was commanded meanwhile, for an action that would send something.
    private func command(before action: UploadTransfer.Action) -> UploadTransfer.Event? {
        switch action {
        case .start, .send, .query: upload.command
        case .wait, .discard, .finish, .fail: nil
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
        var request = HTTPRequest(.delete, session, headers: [("Content-Length", "0")])
        request.deadline = min(caller.policy.timeLimit, .seconds(5))
        let (caller, discarded) = (self.caller, request)
        await Task { _ = try? await caller.answer(to: discarded, bodyLimit: 1 << 20) }.value
    }

    /// Opens a session. Nothing is stored by that, so it may be repeated.
    private mutating func start() async throws(StorageError) -> UploadTransfer.Event {
        let query = store.insertQuery(upload, uploadType: "resumable", precondition)
        var call = Call("insert", upload.name, .post, store.routes.uploads(query), safety: .repeatable)
        call.setJSON(store.insertJSON(upload))
        call.headers.append(("X-Upload-Content-Length", String(upload.source.size)))
        if let type = upload.headers.contentType {
            call.headers.append(("X-Upload-Content-Type", HeaderText.clean(type)))
        }
        let (caller, opening) = (self.caller, call)
        guard let outcome = await upload.run({ await caller.perform(opening) }) else { return dropped() }
        let answer = try outcome.result.get()
        guard let location = answer.head.first("location") else {
            throw failure(.malformedAnswer, "the server opened an upload and named no address for it")
        }
        session = location.first == "/" ? store.endpoint.root + location : location
        // The bytes would travel in the clear.
        guard !store.endpoint.isEncrypted || session.lowercased().hasPrefix("https://") else {
            throw failure(.malformedAnswer, "the server wants the upload over plain http")
        }
        retries.progressed()
        return .opened
    }

    private mutating func send(
        _ range: Range<Int64>, isLast: Bool
    ) async throws(StorageError) -> UploadTransfer.Event {
        let body = UploadBody(upload, range, clock: caller.clock)
        let span = range.isEmpty ? "*" : "\(range.lowerBound)-\(range.upperBound - 1)"
        let total = isLast ? String(upload.source.size) : "*"
        let event = try await exchange("bytes \(span)/\(total)", body)
        if event == .completed, let object, let difference = upload.difference(from: object) {
            throw failure(.corrupted, "the bucket stored something else: \(difference)")
        }
        return event
    }

    /// Asks how much has arrived.
    private mutating func query() async throws(StorageError) -> UploadTransfer.Event {
        let event = try await exchange("bytes */\(upload.source.size)", nil)
        guard event == .completed, let object, let difference = upload.difference(from: object) else { return event }
        caller.log(.warning, "insert \(upload.name): the server ended the upload too early: \(difference)")
        // Its piece is under the name now; that, and nothing else, may be replaced by the next session.
        if precondition.object != nil { precondition.object = .mustBe(object.objectGeneration) }
        return .completedWrongly
    }

    /// Sends one request of the session; waits before the next one if it failed or brought nothing.
    private mutating func exchange(
        _ contentRange: String, _ body: UploadBody?
    ) async throws(StorageError) -> UploadTransfer.Event {
        // The session may live on another host, and its address is enough: no credentials go there.
        var request = HTTPRequest(
            .put, session, headers: [("Content-Range", contentRange)], body: body?.body ?? .bytes([]))
        request.stallLimit = caller.stallLimit(.repeatable, remaining: retries.remaining)
        let (caller, sent) = (self.caller, request)
        let answer: HTTPAnswer
        do throws(ServiceCaller.Setback) {
            let received = try await upload.run { () async throws(ServiceCaller.Setback) in
                try await caller.answer(to: sent, bodyLimit: 1 << 20)
            }
            guard let received else { return dropped() }
            answer = received
        } catch {
            if let body { retries.moved(body) }
            return try await interruption(error)
        }
        switch answer.status {
        case 200, 201:
            object = try ObjectResource.read(answer, "insert", upload.name)
            return .completed
        case 308: return try await stored(upTo: storedEnd(answer.head), isQuery: body == nil)
        case 404, 410: return .sessionLost
        default: return try await interruption(.refused(ErrorAnswer(answer.head, body: answer.body)))
        }
    }

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

    /// 308's `Range: bytes=0-N`; without one, nothing is stored.
    private func storedEnd(_ head: HTTPResponseHead) throws(StorageError) -> Int64 {
        guard let range = head.first("range") else { return 0 }
        guard range.hasPrefix("bytes=0-"), let last = Int64(range.dropFirst(8)), (0..<Int64.max).contains(last) else {
            throw failure(.malformedAnswer, "the server says it has the bytes “\(range)”")
        }
        return last + 1
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
        guard let pause = retries.pause(after: failure, .repeatable) else { throw error }
        caller.log(.info, "\(error); again in \(pause.milliseconds) ms")
        let (caller, name) = (self.caller, upload.name)
        // Dropped, it ends early; what was commanded is found before the next request.
        _ = try await upload.run { () async throws(StorageError) in try await caller.sleep(pause, "insert", name) }
    }

    private func failure(_ reason: UploadTransfer.Failure) -> StorageError {
        switch reason {
        case .tooManySessions: failure(.serverFailed, "the server lost the upload too often")
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
