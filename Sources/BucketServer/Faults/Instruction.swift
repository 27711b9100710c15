/// One way to go wrong on request. The spelling is the reference testbench's where it has one.
enum Instruction: Equatable, Sendable {
    /// `return-503`: the call is refused and not carried out.
    case refuse(status: Int)
    /// `return-503-after-256K`: an upload is refused once so many bytes of the object are taken, and keeps them.
    case refuseUpload(status: Int, after: Int64)
    /// `return-403-at-finalize`: the bytes are taken, the object is not made.
    case refuseFinalize(status: Int)
    /// `return-reset-connection`: no answer, nothing carried out.
    case resetConnection
    /// `act-then-reset-connection`: everything is carried out, but no answer comes.
    case resetAfterActing
    /// `refuse-connections-for-300ms`: no answer, nothing carried out, and nobody can connect for so long.
    case refuseConnections(milliseconds: Int)
    /// `return-broken-stream[-after-256K]`: the answer breaks off; an upload's connection breaks off.
    case breakOff(after: Int64?)
    /// `stall-for-2s[-after-256K]`: nothing moves for a while.
    case stall(seconds: Int, after: Int64?)
    /// `latency-20ms`: the call is taken up later.
    case latency(milliseconds: Int)
    /// `error-body-200`: status 200, but the body tells an error and nothing is carried out.
    case errorBody
    /// `truncate-body-10B`: a well-formed answer of only so many bytes.
    case truncateBody(Int64)
    /// `return-broken-stream-final-chunk-after-10B`: the same for the answer that completes an upload.
    case truncateFinalAnswer(Int64)
    /// `corrupt-body`: one byte in the middle of the answer is another.
    case corruptBody
    /// `retry-after-2s`: adds the header to a refusal that goes with it.
    case retryAfter(seconds: Int)

    /// Reads one instruction, or several joined by commas.
    static func list(_ text: String) throws(APIError) -> [Instruction] {
        let parts = text.split(separator: ",")
        guard !parts.isEmpty else { throw .invalidParameter("instruction", text) }
        return try parts.map { (part) throws(APIError) in
            guard let instruction = Instruction(part) else { throw .invalidParameter("instruction", String(part)) }
            return instruction
        }
    }

    private init?(_ text: Substring) {
        for (pattern, make) in Self.spellings {
            if let numbers = match(text, pattern) {
                self = make(numbers)
                return
            }
        }
        return nil
    }

    /// `#` stands for a number.
    private static let spellings: [(pattern: String, make: @Sendable ([Int]) -> Instruction)] = [
        ("return-#", { .refuse(status: $0[0]) }),
        ("return-#-after-#K", { .refuseUpload(status: $0[0], after: kibibytes($0[1])) }),
        ("return-#-at-finalize", { .refuseFinalize(status: $0[0]) }),
        ("return-reset-connection", { _ in .resetConnection }),
        ("act-then-reset-connection", { _ in .resetAfterActing }),
        ("refuse-connections-for-#ms", { .refuseConnections(milliseconds: $0[0]) }),
        ("return-broken-stream", { _ in .breakOff(after: nil) }),
        ("return-broken-stream-after-#K", { .breakOff(after: kibibytes($0[0])) }),
        ("return-broken-stream-final-chunk-after-#B", { .truncateFinalAnswer(Int64($0[0])) }),
        ("stall-for-#s", { .stall(seconds: $0[0], after: nil) }),
        ("stall-for-#s-after-#K", { .stall(seconds: $0[0], after: kibibytes($0[1])) }),
        ("latency-#ms", { .latency(milliseconds: $0[0]) }),
        ("error-body-200", { _ in .errorBody }),
        ("truncate-body-#B", { .truncateBody(Int64($0[0])) }),
        ("corrupt-body", { _ in .corruptBody }),
        ("retry-after-#s", { .retryAfter(seconds: $0[0]) }),
    ]
}

private func kibibytes(_ count: Int) -> Int64 { Int64(count) * 1024 }

/// The numbers in a text that follows a pattern, in order; nil if it does not.
private func match(_ text: Substring, _ pattern: String) -> [Int]? {
    var rest = text
    var numbers: [Int] = []
    for (index, literal) in pattern.split(separator: "#", omittingEmptySubsequences: false).enumerated() {
        if index > 0 {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            // Nine digits are plenty and cannot overflow.
            guard digits.count <= 9, let number = Int(digits) else { return nil }
            numbers.append(number)
            rest = rest.dropFirst(digits.count)
        }
        guard rest.hasPrefix(literal) else { return nil }
        rest = rest.dropFirst(literal.count)
    }
    return rest.isEmpty ? numbers : nil
}
