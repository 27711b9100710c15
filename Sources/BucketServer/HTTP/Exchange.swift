/// One request and its answer, from the first header to the last byte. One connection's thread at a time touches it.
///
/// A refused request's body is read and thrown away, so that the connection stays usable.
final class Exchange {
    private enum Phase {
        case fresh
        /// The head is read, but a fault delays what follows.
        case delayed(Route)
        case receiving(any BodyReceiver)
        case refused(Response)
        case answered
    }

    /// What the connection does after a piece of the body.
    enum Progress {
        case goOn
        case pause(Duration)
        case breakOff
    }

    private let service: Service
    private let rawTarget: [UInt8]
    private var request: Request?
    private var route: Route?
    private var faults: FaultPlan?
    private var phase = Phase.fresh
    private var bytesReceived: Int64 = 0

    init(service: Service, rawTarget: [UInt8]) {
        self.service = service
        self.rawTarget = rawTarget
    }

    var isFresh: Bool { if case .fresh = phase { true } else { false } }
    var isDelayed: Bool { if case .delayed = phase { true } else { false } }
    var isAnswered: Bool { if case .answered = phase { true } else { false } }

    var parkedConnections: ParkedConnections { service.parkedConnections }

    /// An answer that need not wait for the body: the client waits for leave to send it, and will not get it.
    var earlyResponse: Response? {
        guard case .refused = phase, request?.headers["Expect"] != nil else { return nil }
        return finish()
    }

    /// The head is there.
    /// - Returns: how long to wait before `open`; nil if it was opened at once.
    func begin(method: String, headers: Headers) -> Duration? {
        do throws(APIError) {
            let request = Request(method: method, target: try Target(raw: rawTarget), headers: headers)
            self.request = request
            let route = try service.route(request)
            self.route = route
            phase = .delayed(route)
            guard !route.isControl else {
                open()
                return nil
            }
            service.requests.began(route.operation)
            let faults = FaultPlan(service.faults, route: route, retryTest: headers["x-retry-test-id"])
            self.faults = faults
            if let pause = faults.closedFor { service.listener.withLock { $0 }?.refuse(for: pause) }
            if faults.delay > .zero { return faults.delay }
            open()
        } catch {
            refuse(error)
        }
        return nil
    }

    /// Makes ready for the body.
    func open() {
        guard case .delayed(let route) = phase else { return }
        if let refusal = faults?.refusal {
            phase = .refused(refusal)
            return
        }
        do throws(APIError) {
            switch route.intake {
            case .document(let limit, let answer): phase = .receiving(DocumentReceiver(limit: limit, answer: answer))
            case .stream(let receiver): phase = .receiving(try receiver())
            }
        } catch {
            refuse(error)
        }
    }

    func receive(_ bytes: RawSpan) -> Progress {
        bytesReceived += Int64(bytes.byteCount)
        guard case .receiving(let receiver) = phase else { return .goOn }
        let end = receiver.position + Int64(bytes.byteCount)
        guard let trigger = faults?.trigger(from: receiver.position, to: end) else {
            hand(bytes, to: receiver)
            return .goOn
        }
        switch trigger.instruction {
        case .stall(let seconds, _):
            hand(bytes, to: receiver)
            return .pause(.seconds(seconds))
        case .refuseUpload(let status, _):
            hand(bytes.extracting(first: Int(trigger.offset - receiver.position)), to: receiver)
            receiver.abandon()
            phase = .refused(FaultPlan.refusal(status, retryAfter: []))
            return .goOn
        default:
            hand(bytes.extracting(first: Int(trigger.offset - receiver.position)), to: receiver)
            receiver.abandon()
            log(status: 0, bytesSent: 0)
            phase = .answered
            return .breakOff
        }
    }

    /// The body is all there.
    func finish() -> Response {
        var response = answer()
        phase = .answered
        if let faults, !faults.bodyFaults.isEmpty { response = FaultyBody.apply(faults.bodyFaults, to: response) }
        if faults?.hidesAnswer == true { response = Response(status: 0, body: .reset) }
        log(status: response.status, bytesSent: response.length ?? 0)
        return response
    }

    /// The connection is gone, or the answer is sent.
    func end() {
        if case .receiving(let receiver) = phase { receiver.abandon() }
        phase = .answered
    }

    private func hand(_ bytes: RawSpan, to receiver: any BodyReceiver) {
        do throws(APIError) {
            try receiver.receive(bytes)
        } catch {
            receiver.abandon()
            refuse(error)
        }
    }

    private func answer() -> Response {
        switch phase {
        case .receiving(let receiver):
            if receiver.completesObject, let refusal = faults?.finalize() {
                receiver.abandon()
                return refusal
            }
            do throws(APIError) {
                return try receiver.finish()
            } catch {
                receiver.abandon()
                return response(to: error)
            }
        case .refused(let response): return response
        case .fresh, .delayed, .answered: preconditionFailure("a request is answered once, after its head")
        }
    }

    private func refuse(_ error: APIError) { phase = .refused(response(to: error)) }

    private func response(to error: APIError) -> Response {
        error.response(as: request?.errorForm ?? .document)
    }

    private func log(status: Int, bytesSent: Int64) {
        guard let route, !route.isControl else { return }
        service.requests.ended(
            RequestLog.Entry(
                operation: route.operation, name: route.name, status: status,
                range: request?.headers["Range"] ?? request?.headers["Content-Range"]
                    ?? request?.headers["X-Goog-Upload-Offset"]),
            bytesReceived: bytesReceived, bytesSent: bytesSent)
    }
}
