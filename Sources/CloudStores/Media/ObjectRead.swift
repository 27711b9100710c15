import HTTPTransport
import Locking
import Logging
import ObjectStore

/// One ranged read under way, over as many requests as it takes.
///
/// The first request leaves from the caller's thread, without a task when an authorization is at hand. After that
/// everything but `cancel` happens one after the other: the transport calls the handler of one request at a time, and
/// the next request is sent only after the completion of the one before. `course` is touched on that line alone, which
/// is why sharing this class is safe; `control` is what `cancel` may touch from anywhere.
@safe
final class ObjectRead: StoreTransfer, HTTPResponseHandler, @unchecked Sendable {
    private struct Control {
        var isCancelled = false
        /// Counts requests and pauses, so that none is noted here after it has ended already.
        var steps = 0
        /// What `cancel` has to end: the request under way, or the pause before the next.
        var request: (any HTTPTransfer)?
        var pause: Task<Void, Never>?
    }

    private let caller: ServiceCaller
    /// Where the object's bytes are, of this generation where the protocol can ask for one.
    private let url: @Sendable (ObjectGeneration?) -> String
    private let receiver: any ReadReceiver
    private let control = Lock(Control())
    private var course: ReadCourse
    private var retries: RetryState
    private var authorization = Authorization.anonymous
    private var hasRefreshed = false
    /// Up to here of what came is in the retries' account.
    private var accounted: Int64 = 0

    private var name: ObjectName { course.request.name }

    init(
        _ request: ReadRequest, asksForGeneration: Bool, by caller: ServiceCaller, into receiver: any ReadReceiver,
        url: @escaping @Sendable (ObjectGeneration?) -> String
    ) {
        self.caller = caller
        self.url = url
        self.receiver = receiver
        course = ReadCourse(request, asksForGeneration: asksForGeneration)
        retries = caller.newRetries()
    }

    func start() {
        do {
            try Routes.check(name, "read")
        } catch {
            return receiver.completed(.failure(error))
        }
        guard let cached = caller.credentials.cachedAuthorization() else {
            return later { read async throws(StorageError) in
                read.authorization = try await read.caller.authorization(
                    replacing: nil, within: read.retries.remaining)
            }
        }
        authorization = cached
        send()
    }

    func cancel() {
        let (request, pause) = control.withLock { control in
            control.isCancelled = true
            return (control.request, control.pause)
        }
        request?.cancel()
        pause?.cancel()
    }

    // MARK: One request

    private func send() {
        guard let step = beginStep() else { return finish(.failure(.cancelled("read", name))) }
        course.beginAttempt()
        var request = HTTPRequest(.get, url(course.objectGeneration), headers: caller.headers(for: authorization))
        // Without this the server may decode what is stored compressed; nothing here decodes it.
        request.headers.append(("Accept-Encoding", "gzip"))
        if let range = course.rangeHeader { request.headers.append(("Range", range)) }
        request.stallLimit = caller.stallLimit(.repeatable, remaining: retries.remaining)
        let transfer = caller.transport.send(request, to: self)
        let isCancelled = control.withLock { control in
            if control.steps == step { control.request = transfer }
            return control.isCancelled
        }
        if isCancelled { transfer.cancel() }
    }

    /// The number of the step that begins; nil when the read is cancelled.
    private func beginStep() -> Int? {
        control.withLock { control in
            control.steps += 1
            control.request = nil
            control.pause = nil
            return control.isCancelled ? nil : control.steps
        }
    }

    func received(head: HTTPResponseHead) -> Bool {
        let step = course.receive(head)
        if let head = step.announcement { receiver.received(head) }
        return step.goesOn
    }

    func received(bytes: UnsafeRawBufferPointer) -> Bool {
        let step = unsafe course.receive(bytes)
        if course.received - accounted >= ReadCourse.leastAdvance {
            accounted = course.received
            let now = caller.clock.now()
            retries.moved(to: accounted, at: now)
            caller.hearing.heard(at: now)
        }
        if unsafe !step.deliverable.isEmpty { unsafe receiver.received(step.deliverable) }
        return step.goesOn
    }

    func completed(_ result: Result<Void, TransportError>) {
        let isCancelled = beginStep() == nil
        switch course.conclude(result, isCancelled: isCancelled) {
        case .finished:
            deliverHeldBack()
            finish(.success(()))
        case .failed(let error): finish(.failure(error))
        case .unauthorized(let error): refresh(after: error)
        case .again(let failure, let error): retry(after: failure, error)
        case .immediately: send()
        }
    }

    private func deliverHeldBack() {
        let bytes = course.takeHeldBack()
        guard !bytes.isEmpty else { return }
        unsafe bytes.withUnsafeBytes { buffer in unsafe receiver.received(buffer) }
    }

    private func finish(_ result: Result<Void, StorageError>) {
        switch result {
        case .success: caller.hearing.heard(at: caller.clock.now())
        case .failure: caller.gaveUp(retries)
        }
        receiver.completed(result)
    }

    // MARK: The next request

    private func refresh(after error: StorageError) {
        guard !hasRefreshed else { return finish(.failure(error)) }
        hasRefreshed = true
        later { read async throws(StorageError) in
            let fresh = try await read.caller.authorization(
                replacing: read.authorization, within: read.retries.remaining)
            guard fresh != read.authorization else { throw error }
            read.authorization = fresh
        }
    }

    private func retry(after failure: RetryPolicy.Failure, _ error: StorageError) {
        if course.hasAdvanced { retries.progressed() }
        guard let pause = caller.pause(after: failure, .repeatable, &retries) else { return finish(.failure(error)) }
        caller.log(.info, "\(error); again in \(pause.milliseconds) ms")
        later { read async throws(StorageError) in try await read.caller.sleep(pause, "read", read.name) }
    }

    /// Sends the next request once `preparation` is done, without holding up the transfer thread.
    private func later(_ preparation: @escaping @Sendable (ObjectRead) async throws(StorageError) -> Void) {
        guard let step = beginStep() else { return finish(.failure(.cancelled("read", name))) }
        let task = Task {
            do throws(StorageError) {
                try await preparation(self)
                self.send()
            } catch {
                self.finish(.failure(error))
            }
        }
        let isCancelled = control.withLock { control in
            if control.steps == step { control.pause = task }
            return control.isCancelled
        }
        if isCancelled { task.cancel() }
    }
}
