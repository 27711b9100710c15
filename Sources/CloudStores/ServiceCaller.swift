import HTTPTransport
import Logging
import ObjectStore

/// One small request and how it may be repeated.
struct Call: Sendable {
    let operation: String
    let object: ObjectName?
    var method: HTTPRequest.Method
    var url: String
    var headers: [(name: String, value: String)] = []
    var body: HTTPBody = .none
    let safety: RetryPolicy.Safety
    /// Set when the body is an upload: then only a lack of movement ends an attempt.
    var upload: UploadBody?
    /// What must hold before each attempt, where the protocol itself cannot be asked to check it.
    var precheck: (@Sendable () async throws(StorageError) -> Void)?
    /// A page of a thousand objects with full custom metadata (8 KiB each, PROTOCOL 4.9) fits.
    var bodyLimit = 32 << 20

    init(
        _ operation: String, _ object: ObjectName?, _ method: HTTPRequest.Method, _ url: String,
        safety: RetryPolicy.Safety
    ) {
        self.operation = operation
        self.object = object
        self.method = method
        self.url = url
        self.safety = safety
    }

    mutating func setJSON(_ json: JSONObject) {
        headers.append(("Content-Type", "application/json; charset=UTF-8"))
        body = .bytes(json.bytes)
    }
}

/// Sends calls with credentials, and again as the retry rules allow.
struct ServiceCaller: Sendable {
    let transport: any HTTPTransport
    let credentials: any CredentialSource
    let policy: RetryPolicy
    let clock: RetryClock
    /// Who pays; nil: whoever the credential names.
    let userProject: String?
    /// What every request with credentials says of us.
    var introduction: [(name: String, value: String)] = []
    let log: Logger
    let hearing = ServiceHearing()

    struct Outcome: Sendable {
        /// An answer with a 2xx status, or why there is none.
        let result: Result<HTTPAnswer, StorageError>
        /// Whether an earlier attempt failed in a way that leaves open whether the server acted on it.
        let isAmbiguous: Bool

        var isSuccess: Bool { (try? result.get()) != nil }

        /// Whether the server may have done what was asked although `error` came of it: the precondition may have
        /// failed after an attempt whose answer was lost, and a damaged answer may have told of a success.
        func mayHaveSucceeded(despite error: StorageError) -> Bool {
            error.kind == .malformedAnswer || isAmbiguous && error.kind == .preconditionFailed
        }
    }

    /// Why an attempt had no success.
    enum Setback: Error {
        case refused(ErrorAnswer)
        case failed(TransportError)

        var failure: RetryPolicy.Failure {
            switch self {
            case .refused(let answer): answer.failure
            case .failed(let error): .transport(error.kind)
            }
        }

        func error(_ operation: String, _ object: ObjectName?) -> StorageError {
            switch self {
            case .refused(let answer): answer.error(operation, object)
            case .failed(let error): StorageError(error, operation, object)
            }
        }
    }

    func perform(_ call: Call) async -> Outcome {
        var state = newRetries(call.safety)
        do throws(StorageError) {
            var authorization = try await self.authorization(replacing: nil, within: state.remaining)
            var hasRefreshed = false
            while true {
                try await call.precheck?()
                do throws(Setback) {
                    let answer = try await attempt(call, authorization, &state)
                    return Outcome(result: .success(answer), isAmbiguous: state.isAmbiguous)
                } catch {
                    if case .refused(let answer) = error, answer.status == 401, !hasRefreshed {
                        hasRefreshed = true
                        let fresh = try await self.authorization(replacing: authorization, within: state.remaining)
                        guard fresh != authorization else { throw error.error(call.operation, call.object) }
                        authorization = fresh
                    } else {
                        if let upload = call.upload { state.moved(upload) }
                        try await pause(after: error, call, &state)
                    }
                }
            }
        } catch {
            gaveUp(state)
            return Outcome(result: .failure(error), isAmbiguous: state.isAmbiguous)
        }
    }

    /// `perform`, for calls where ambiguity makes no difference.
    func answer(to call: Call) async throws(StorageError) -> HTTPAnswer {
        try await perform(call).result.get()
    }

    /// `perform` for a request that carries a whole upload: dropped by a pause, it is sent again after it.
    func perform(_ call: Call, for upload: Upload) async -> Outcome {
        var wasDropped = false
        while await upload.mayGoOn() {
            if let outcome = await upload.run(keeping: \.isSuccess, { await perform(call) }) {
                return Outcome(result: outcome.result, isAmbiguous: outcome.isAmbiguous || wasDropped)
            }
            wasDropped = true
        }
        return Outcome(result: .failure(.cancelled(call.operation, call.object)), isAmbiguous: wasDropped)
    }

    /// - Parameter limit: how long the service that gives them out may take.
    func authorization(
        replacing rejected: Authorization?, within limit: Duration
    ) async throws(StorageError) -> Authorization {
        if rejected == nil, let cached = credentials.cachedAuthorization() { return cached }
        let asking = Task { [credentials] () async -> Result<Authorization, StorageError> in
            do throws(StorageError) { return .success(try await credentials.authorization(replacing: rejected)) } catch
            {
                return .failure(error)
            }
        }
        let alarm = Task { [clock] in
            try await clock.sleep(limit)
            asking.cancel()
        }
        defer { alarm.cancel() }
        let outcome = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }
        if case .failure(let error) = outcome, error.kind == .cancelled, !Task.isCancelled {
            throw StorageError(
                .timedOut, operation: TokenService.operation, message: "it took longer than the time allowed")
        }
        return try outcome.get()
    }

    // MARK: Time

    /// For a request that begins now.
    func newRetries(_ safety: RetryPolicy.Safety = .repeatable) -> RetryState {
        var state = RetryState(policy: policy, clock: clock)
        // What cannot be tried again is not tried in haste.
        if safety == .repeatable, isGone { state.becomeImpatient() }
        return state
    }

    private var isGone: Bool { hearing.isGone(at: clock.now(), limit: policy.timeLimit) }

    /// How long to wait before the next attempt; nil: give up.
    func pause(
        after failure: RetryPolicy.Failure, _ safety: RetryPolicy.Safety, _ state: inout RetryState
    ) -> Duration? {
        // Somebody has heard of it since.
        if !state.isPatient, !isGone { state.becomePatient() }
        return state.pause(after: failure, safety)
    }

    /// A request ends without success.
    func gaveUp(_ state: RetryState) {
        guard state.isPatient else { return }
        hearing.failed(at: clock.now(), after: state.idle, of: policy.timeLimit)
    }

    /// Headers that say who asks.
    func headers(for authorization: Authorization) -> [(name: String, value: String)] {
        var headers = introduction
        if let value = authorization.value { headers.append(("Authorization", value)) }
        if let project = userProject ?? authorization.quotaProject { headers.append(("x-goog-user-project", project)) }
        return headers
    }

    /// How long an attempt may wait without a byte moving. Half the time, so that after a connection that died silently
    /// a second one gets its chance.
    func stallLimit(_ safety: RetryPolicy.Safety, remaining: Duration) -> Duration {
        safety == .repeatable ? min(policy.timeLimit / 2, remaining) : remaining
    }

    private func attempt(
        _ call: Call, _ authorization: Authorization, _ state: inout RetryState
    ) async throws(Setback) -> HTTPAnswer {
        var request = HTTPRequest(call.method, call.url, headers: call.headers, body: call.body)
        request.headers += headers(for: authorization)
        request.stallLimit = stallLimit(call.safety, remaining: state.remaining)
        if call.upload == nil { request.deadline = state.remaining }
        call.upload?.beginAttempt()
        let answer = try await self.answer(to: request, bodyLimit: call.bodyLimit, carrying: call.upload)
        if answer.head.answersSecondTry { state.becameAmbiguous() }
        guard (200...299).contains(answer.status) else { throw .refused(ErrorAnswer(answer.head, body: answer.body)) }
        return answer
    }

    /// One request, sent once.
    func answer(to request: HTTPRequest, bodyLimit: Int) async throws(Setback) -> HTTPAnswer {
        do {
            let answer = try await transport.answer(to: request, bodyLimit: bodyLimit)
            hearing.heard(at: clock.now())
            return answer
        } catch {
            throw .failed(error)
        }
    }

    /// One request, sent once, that carries a part of an upload or all of it. When all of it has left the server may
    /// act on it, so whoever gives it up then waits a moment to learn what came of it.
    func answer(
        to request: HTTPRequest, bodyLimit: Int, carrying body: UploadBody?
    ) async throws(Setback) -> HTTPAnswer {
        guard let body else { return try await answer(to: request, bodyLimit: bodyLimit) }
        let sending = Task { () async -> Result<HTTPAnswer, Setback> in
            do throws(Setback) { return .success(try await answer(to: request, bodyLimit: bodyLimit)) } catch {
                return .failure(error)
            }
        }
        let result = await withTaskCancellationHandler {
            await sending.value
        } onCancel: {
            guard body.hasLeft else { return sending.cancel() }
            Task {
                try? await Task.sleep(for: Self.lastWord)
                sending.cancel()
            }
        }
        return try result.get()
    }

    /// Most servers answer in that time, and whoever cancels an upload because none does need not wait long.
    private static let lastWord = Duration.seconds(2)

    /// Waits before the next attempt, or throws what ends the call.
    func pause(after setback: Setback, _ call: Call, _ state: inout RetryState) async throws(StorageError) {
        let error = setback.error(call.operation, call.object)
        guard let pause = pause(after: setback.failure, call.safety, &state) else { throw error }
        log(.info, "\(error); again in \(pause.milliseconds) ms")
        try await sleep(pause, call.operation, call.object)
    }

    func sleep(_ pause: Duration, _ operation: String, _ object: ObjectName?) async throws(StorageError) {
        do {
            try await clock.sleep(pause)
        } catch {
            throw .cancelled(operation, object)
        }
    }
}

extension RetryState {
    /// Takes over what an upload's body saw of an attempt that failed.
    mutating func moved(_ upload: UploadBody) {
        let attempt = upload.attempt()
        if let moment = attempt.lastRead { moved(to: upload.offset + attempt.end, at: moment) }
        if attempt.wasRewound { becameAmbiguous() }
    }
}
