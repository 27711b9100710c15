/// `PUT /internal/setRules`: how test suites give the official emulator its rules (docs/RULES.md).
extension Service {
    func routeSetRules(_ request: Request) throws(APIError) -> Route {
        guard request.method == "PUT" else { throw .notFound("internal/setRules") }
        return .control { (body) throws(APIError) in try self.setRules(body) }
    }

    private func setRules(_ body: [UInt8]) throws(APIError) -> Response {
        let document = try JSONValue.parseObject(body)
        let files = document["rules"]?.members?["files"]?.elements ?? []
        guard files.count == 1, let file = files[0].members, let source = file["content"]?.text else {
            throw .invalid("Expected one file: {\"rules\":{\"files\":[{\"name\":…,\"content\":…}]}}.")
        }
        do throws(RulesSyntaxError) {
            try rules.replace(with: source, name: file["name"]?.text ?? "storage.rules")
        } catch {
            throw .invalid("The rules do not parse, so the old ones stay: \(error)")
        }
        var json = JSONWriter()
        json.object { $0.string("message", "The rules are in force.") }
        return Response(json: json.bytes)
    }
}
