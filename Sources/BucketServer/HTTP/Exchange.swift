/// One request and its answer, from the first header to the last byte. One connection's thread at a time touches it.
///
/// A refused request's body is read and thrown away, so that the connection stays usable.
final class Exchange {
    private enum Phase {
        case fresh
        case receiving(any BodyReceiver)
        case refused(APIError)
        case answered
    }

    private let service: Service
    private let rawTarget: [UInt8]
    private var request: Request?
    private var route: Route?
    private var phase = Phase.fresh
    private var bytesReceived: Int64 = 0

    init(service: Service, rawTarget: [UInt8]) {
        self.service = service
        self.rawTarget = rawTarget
    }

    var isFresh: Bool { if case .fresh = phase { true } else { false } }

    /// The head is there.
    func begin(method: String, headers: Headers) {
        do throws(APIError) {
            let request = Request(method: method, target: try Target(raw: rawTarget), headers: headers)
            self.request = request
            let route = try service.route(request)
            self.route = route
            service.requests.began(route.operation)
            switch route.intake {
            case .document(let limit, let answer): phase = .receiving(DocumentReceiver(limit: limit, answer: answer))
            case .stream(let receiver): phase = .receiving(try receiver())
            }
        } catch {
            phase = .refused(error)
        }
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        bytesReceived += Int64(bytes.count)
        guard case .receiving(let receiver) = phase else { return }
        do throws(APIError) {
            try unsafe receiver.receive(bytes)
        } catch {
            receiver.abandon()
            phase = .refused(error)
        }
    }

    /// The body is all there.
    func finish() -> Response {
        let response = answer()
        phase = .answered
        if let route {
            service.requests.ended(
                RequestLog.Entry(
                    operation: route.operation, name: route.name, status: response.status,
                    range: request?.headers["Range"] ?? request?.headers["Content-Range"]),
                bytesReceived: bytesReceived, bytesSent: response.length ?? 0)
        }
        return response
    }

    /// The connection is gone, or the answer is sent.
    func end() {
        if case .receiving(let receiver) = phase { receiver.abandon() }
        phase = .answered
    }

    private func answer() -> Response {
        switch phase {
        case .receiving(let receiver):
            do throws(APIError) { return try receiver.finish() } catch { return refusal(error, receiver) }
        case .refused(let error): return refusal(error, nil)
        case .fresh, .answered: preconditionFailure("a request is answered once, after its head")
        }
    }

    private func refusal(_ error: APIError, _ receiver: (any BodyReceiver)?) -> Response {
        receiver?.abandon()
        return error.response(plainText: request?.wantsMedia ?? false)
    }
}
