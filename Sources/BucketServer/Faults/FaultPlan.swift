/// What goes wrong with one request: the faults that strike at its start, and those that wait for a moment of it.
///
/// One request owns it; one thread at a time.
struct FaultPlan {
    /// What an upload's bytes may set off.
    struct Trigger {
        let source: Faults.Source
        let instruction: Instruction
        /// Where in the object.
        let offset: Int64
    }

    /// Passes before the request is taken up.
    private(set) var delay = Duration.zero
    private(set) var refusal: Response?
    /// The connection is reset in place of the answer.
    private(set) var hidesAnswer = false
    /// For so long nobody can connect.
    private(set) var closedFor: Duration?
    private(set) var bodyFaults: [Instruction] = []
    private var triggers: [Trigger] = []
    private var finalizing: [(source: Faults.Source, instructions: [Instruction])] = []
    private let faults: Faults

    init(_ faults: Faults, route: Route, retryTest: String?) {
        self.faults = faults
        for (source, instructions) in faults.armed(route.operation, route.name, retryTest: retryTest) {
            arm(instructions, source, isUpload: route.isUpload)
        }
    }

    /// The first trigger that bytes up to `end` set off, those from `start` on being new.
    /// - Returns: nil when nothing strikes.
    mutating func trigger(from start: Int64, to end: Int64) -> Trigger? {
        guard let index = triggers.firstIndex(where: { start <= $0.offset && $0.offset <= end }) else { return nil }
        let trigger = triggers.remove(at: index)
        return faults.strike(trigger.source) ? trigger : nil
    }

    /// The upload is about to become an object.
    /// - Returns: the answer that it gets instead, if any.
    mutating func finalize() -> Response? {
        var refusal: Response?
        for (source, instructions) in finalizing where faults.strike(source) {
            for case .refuseFinalize(let status) in instructions {
                refusal = Self.refusal(status, retryAfter: instructions)
            }
            for case .truncateFinalAnswer(let length) in instructions { bodyFaults.append(.truncateBody(length)) }
        }
        finalizing = []
        return refusal
    }

    private mutating func arm(_ instructions: [Instruction], _ source: Faults.Source, isUpload: Bool) {
        if isUpload, let instruction = instructions.first(where: { $0.uploadOffset != nil }) {
            triggers.append(Trigger(source: source, instruction: instruction, offset: instruction.uploadOffset ?? 0))
            return
        }
        guard !instructions.contains(where: \.waitsForFinalize) else {
            if isUpload { finalizing.append((source, instructions)) }
            return
        }
        guard !instructions.contains(where: \.concernsUploadsOnly), faults.strike(source) else { return }
        for instruction in instructions { strike(instruction, with: instructions) }
    }

    private mutating func strike(_ instruction: Instruction, with instructions: [Instruction]) {
        switch instruction {
        case .latency(let milliseconds): delay += .milliseconds(milliseconds)
        case .stall(let seconds, nil): delay += .seconds(seconds)
        case .refuse(let status): refusal = Self.refusal(status, retryAfter: instructions)
        case .resetConnection: refusal = Response(status: 0, body: .reset)
        case .resetAfterActing: hidesAnswer = true
        case .refuseConnections(let milliseconds):
            refusal = Response(status: 0, body: .reset)
            closedFor = .milliseconds(milliseconds)
        case .errorBody: refusal = Response(status: 200, json: APIError.injected(503).document)
        case .breakOff, .stall, .truncateBody, .corruptBody: bodyFaults.append(instruction)
        case .refuseUpload, .refuseFinalize, .truncateFinalAnswer, .retryAfter: break
        }
    }

    static func refusal(_ status: Int, retryAfter instructions: [Instruction]) -> Response {
        var response = APIError.injected(status).response(as: .document)
        for case .retryAfter(let seconds) in instructions { response.headers.append(("Retry-After", String(seconds))) }
        return response
    }
}

extension Instruction {
    fileprivate var uploadOffset: Int64? {
        switch self {
        case .refuseUpload(_, let after): after
        case .stall(_, let after), .breakOff(let after): after
        default: nil
        }
    }

    fileprivate var waitsForFinalize: Bool {
        switch self {
        case .refuseFinalize, .truncateFinalAnswer: true
        default: false
        }
    }

    fileprivate var concernsUploadsOnly: Bool {
        if case .refuseUpload = self { true } else { false }
    }
}

extension Route {
    fileprivate var isUpload: Bool {
        if case .stream = intake { true } else { false }
    }
}

extension APIError {
    /// A failure that a test asked for, with the reason the service gives with its status.
    static func injected(_ status: Int) -> APIError {
        let reason =
            switch status {
            case 400: "invalid"
            case 401: "authError"
            case 403: "forbidden"
            case 404: "notFound"
            case 408: "uploadBrokenConnection"
            case 409: "conflict"
            case 410: "gone"
            case 412: "conditionNotMet"
            case 429: "rateLimitExceeded"
            case 500: "internalError"
            default: "backendError"
            }
        return APIError(status: status, reason: reason, message: "Injected fault: \(status)")
    }
}
