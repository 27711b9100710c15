import Foundation

/// The bucket as somebody else sees it: plain requests by the curl command, never through our own modules.
struct OtherClient: Sendable {
    let server: String
    let bucket: String

    /// An object as the service describes it.
    struct Object: Decodable {
        let name: String
        let size: String
        let generation: String?
        let contentType: String?
        let contentEncoding: String?
        let cacheControl: String?
        let contentDisposition: String?
        let metadata: [String: String]?
    }

    // MARK: Objects

    /// Stores `body` under `name`, whatever was there.
    func put(
        _ name: String, _ body: Data, contentType: String = "application/octet-stream", metadata: [String: Any] = [:]
    ) throws {
        var resource = metadata
        resource["name"] = name
        resource["contentType"] = contentType
        let boundary = "boundary-of-two-parts"
        var parts = Data("--\(boundary)\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".utf8)
        parts += try JSONSerialization.data(withJSONObject: resource)
        parts += Data("\r\n--\(boundary)\r\nContent-Type: \(contentType)\r\n\r\n".utf8)
        parts += body + Data("\r\n--\(boundary)--\r\n".utf8)
        try expectSuccess(
            request(
                "POST", "/upload/storage/v1/b/\(bucket)/o?uploadType=multipart&name=\(escape(name))", body: parts,
                headers: ["Content-Type: multipart/related; boundary=\(boundary)"]), name)
    }

    func put(_ name: String, _ text: String, contentType: String = "text/plain") throws {
        try put(name, Data(text.utf8), contentType: contentType)
    }

    /// nil: there is no such object.
    func get(_ name: String) throws -> Data? {
        let answer = try request("GET", "\(path(name))?alt=media", headers: ["Accept-Encoding: gzip"])
        if answer.status == 404 { return nil }
        try expectSuccess(answer, name)
        return answer.body
    }

    func text(_ name: String) throws -> String? {
        try get(name).map { String(decoding: $0, as: UTF8.self) }
    }

    func object(_ name: String) throws -> Object? {
        let answer = try request("GET", path(name))
        if answer.status == 404 { return nil }
        try expectSuccess(answer, name)
        return try JSONDecoder().decode(Object.self, from: answer.body)
    }

    func delete(_ name: String) throws {
        try expectSuccess(request("DELETE", path(name)), name)
    }

    func patch(_ name: String, _ changes: [String: Any]) throws {
        let body = try JSONSerialization.data(withJSONObject: changes)
        try expectSuccess(request("PATCH", path(name), body: body, headers: ["Content-Type: application/json"]), name)
    }

    /// Every name that begins with `prefix`, in the service's order.
    func list(_ prefix: String = "") throws -> [String] {
        struct Page: Decodable {
            var items: [Object]?
            var nextPageToken: String?
        }
        var names: [String] = []
        var token = ""
        repeat {
            let answer = try request(
                "GET", "/storage/v1/b/\(bucket)/o?prefix=\(escape(prefix))&pageToken=\(escape(token))")
            try expectSuccess(answer, prefix)
            let page = try JSONDecoder().decode(Page.self, from: answer.body)
            names += (page.items ?? []).map(\.name)
            token = page.nextPageToken ?? ""
        } while !token.isEmpty
        return names
    }

    /// The bytes of every object below `prefix` that is no folder's placeholder, by the rest of its name.
    func files(below prefix: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try list(prefix) where !name.hasSuffix("/") {
            files[String(name.dropFirst(prefix.count))] = try get(name)
        }
        return files
    }

    // MARK: The local server's own calls

    struct Requests: Decodable {
        /// `storage.objects.list` and the like → how many were asked.
        let counts: [String: Int]
        let bytesReceived: Int
        let bytesSent: Int

        var total: Int { counts.values.reduce(0, +) }
    }

    func requests() throws -> Requests {
        try JSONDecoder().decode(Requests.self, from: request("GET", "/_firemount/requests").body)
    }

    /// The names of the objects whose bytes were asked for lately, of the last 2,000 requests.
    func namesRead() throws -> [String] {
        struct Log: Decodable {
            struct Entry: Decodable {
                let operation: String
                let name: String?
            }
            let log: [Entry]
        }
        let log = try JSONDecoder().decode(Log.self, from: request("GET", "/_firemount/requests").body)
        return log.log.filter { $0.operation == "storage.objects.media" }.compactMap(\.name)
    }

    func forgetRequests() throws {
        try expectSuccess(request("DELETE", "/_firemount/requests"), "requests")
    }

    /// After `skip` requests of `operation`, the next `times` go wrong as `instruction` says (docs/PROTOCOL.md,
    /// faults).
    func injectFault(_ operation: String, _ instruction: String, times: Int, skip: Int = 0) throws {
        let fault: [String: Any] = [
            "operation": operation, "instruction": instruction, "times": times, "skip": skip,
        ]
        let body = try JSONSerialization.data(withJSONObject: fault)
        try expectSuccess(
            request("POST", "/_firemount/faults", body: body, headers: ["Content-Type: application/json"]), "faults")
    }

    /// - Parameter patience: how long the server may refuse connections, as a fault has it.
    func clearFaults(patience: Duration = .zero) throws {
        let end = ContinuousClock.now + patience
        while true {
            do { return try expectSuccess(request("DELETE", "/_firemount/faults"), "faults") } catch {
                guard ContinuousClock.now < end else { throw error }
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
    }

    // MARK: HTTP

    private struct Answer {
        let status: Int
        let body: Data
    }

    private func path(_ name: String) -> String { "/storage/v1/b/\(bucket)/o/\(escape(name))" }

    private func request(_ method: String, _ path: String, body: Data? = nil, headers: [String] = []) throws -> Answer {
        let answer = TemporaryFolder.uniquePath("answer")
        defer { try? FileManager.default.removeItem(atPath: answer) }
        var arguments = ["curl", "--silent", "--show-error", "--request", method, "--output", answer]
        arguments += ["--write-out", "%{http_code}", "--globoff", "\(server)\(path)"]
        arguments += headers.flatMap { ["--header", $0] }
        if body != nil { arguments += ["--data-binary", "@-"] }
        let outcome = try Tool().run(arguments, input: body)
        guard let status = Int(outcome.output) else {
            throw ToolFailure(description: "\(method) \(path): \(outcome.output)")
        }
        return Answer(status: status, body: (try? Data(contentsOf: URL(fileURLWithPath: answer))) ?? Data())
    }

    private func expectSuccess(_ answer: Answer, _ subject: String) throws {
        guard (200..<300).contains(answer.status) else {
            let said = String(decoding: answer.body.prefix(500), as: UTF8.self)
            throw ToolFailure(description: "\(subject): HTTP \(answer.status): \(said)")
        }
    }

    private func escape(_ name: String) -> String {
        name.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
