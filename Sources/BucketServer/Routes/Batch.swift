/// `POST /batch/storage/v1`: up to 100 requests in one, each answered by itself (PROTOCOL 4.8).
extension Service {
    static let longestBatch = 10_000_000
    private static let mostCalls = 100

    func batch(_ request: Request, _ body: [UInt8]) throws(APIError) -> Response {
        var reader = try MultipartReader(contentType: request.headers["Content-Type"])
        let parts = BatchParts()
        try reader.read(withFullLineEnds(body), into: parts)
        guard reader.isFinished else { throw .invalid("The batch ends before its last boundary.") }
        guard parts.all.count <= Self.mostCalls else { throw .invalid("A batch takes at most 100 calls.") }
        let boundary = "batch_\(randomID())"
        var answer: [UInt8] = []
        for part in parts.all {
            answer += "--\(boundary)\r\nContent-Type: application/http\r\n".utf8
            if let id = part.headers["Content-ID"] { answer += "Content-ID: \(responseID(id))\r\n".utf8 }
            answer += "\r\n".utf8
            answer += httpText(answerPart(part.body, of: request))
            answer += "\r\n".utf8
        }
        answer += "--\(boundary)--\r\n".utf8
        return Response(
            status: 200, headers: [("Content-Type", "multipart/mixed; boundary=\(boundary)")], body: .bytes(answer))
    }

    /// `<x>` is answered as `<response-x>`.
    private func responseID(_ id: String) -> String {
        id.hasPrefix("<") ? "<response-\(id.dropFirst())" : "response-\(id)"
    }

    private func answerPart(_ text: [UInt8], of outer: Request) -> Response {
        do throws(APIError) {
            let (request, body) = try parse(text, outer)
            let route = try route(request)
            guard case .document(_, let answer) = route.intake, route.operation != "storage.objects.media" else {
                throw .invalid("Uploads and downloads are not possible in a batch.")
            }
            requests.began(route.operation)
            let refusal = FaultPlan(faults, route: route, retryTest: request.headers["x-retry-test-id"]).refusal
            let response = refusal ?? result { () throws(APIError) in try answer(body) }
            requests.ended(
                RequestLog.Entry(
                    operation: route.operation, name: route.name, status: response.status, range: nil),
                bytesReceived: 0, bytesSent: 0)
            return response
        } catch {
            return error.response(as: .document)
        }
    }

    private func result(_ body: () throws(APIError) -> Response) -> Response {
        do throws(APIError) { return try body() } catch { return error.response(as: .document) }
    }

    /// A part's text as a request; the outer request's `Authorization` and `Host` count for it.
    private func parse(_ text: [UInt8], _ outer: Request) throws(APIError) -> (Request, body: [UInt8]) {
        var rest = text[...]
        func nextLine() -> ArraySlice<UInt8>? {
            guard let end = rest.firstIndex(of: 0x0A) else { return rest.isEmpty ? nil : rest.popAll() }
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            return line.last == 0x0D ? line.dropLast() : line
        }
        let words = (nextLine() ?? []).split(separator: UInt8(ascii: " "))
        guard words.count >= 2 else { throw .invalid("A part of the batch is not a request.") }
        var headers = Headers()
        while let line = nextLine(), !line.isEmpty {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            headers.append(
                String(decoding: line[..<colon], as: UTF8.self),
                String(decoding: line[(colon + 1)...].drop { $0 == 0x20 }, as: UTF8.self))
        }
        if headers["Authorization"] == nil, let value = outer.headers["Authorization"] {
            headers.append("Authorization", value)
        }
        if headers["Host"] == nil { headers.append("Host", outer.headers["Host"] ?? "localhost") }
        let method = String(decoding: words[0], as: UTF8.self)
        return (Request(method: method, target: try Target(raw: words[1]), headers: headers), Array(rest))
    }

    private func httpText(_ response: Response) -> [UInt8] {
        guard case .bytes(let body) = response.body else { return [] }
        var text = Array("HTTP/1.1 \(response.status) \(reasonPhrase(response.status))\r\n".utf8)
        for header in response.headers { text += "\(header.name): \(header.value)\r\n".utf8 }
        text += "Content-Length: \(body.count)\r\n\r\n".utf8
        return text + body
    }
}

/// Google's own Python client ends the lines of a batch with a bare line feed.
private func withFullLineEnds(_ text: [UInt8]) -> [UInt8] {
    var full: [UInt8] = []
    full.reserveCapacity(text.count + text.count / 16)
    for byte in text {
        if byte == 0x0A, full.last != 0x0D { full.append(0x0D) }
        full.append(byte)
    }
    return full
}

private func reasonPhrase(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 409: "Conflict"
    case 412: "Precondition Failed"
    default: "Status"
    }
}

private final class BatchParts: MultipartSink {
    var all: [(headers: Headers, body: [UInt8])] = []

    func partBegan(_ headers: Headers) { all.append((headers, [])) }
    func partContinued(_ bytes: ArraySlice<UInt8>) { all[all.count - 1].body += bytes }
    func partEnded() {}
}

extension ArraySlice {
    fileprivate mutating func popAll() -> ArraySlice {
        defer { self = [] }
        return self
    }
}
