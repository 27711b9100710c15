/// What tests steer the server with: faults and the request log. None of it is counted or hit by faults.
extension Service {
    /// `/_firemount/…`, after the first segment.
    func routeControl(_ request: Request, _ path: ArraySlice<String>) throws(APIError) -> Route {
        switch (path.joined(separator: "/"), request.method) {
        case ("requests", "GET"):
            return .control { (_) throws(APIError) in Response(json: self.requests.document()) }
        case ("requests", "DELETE"):
            return .control { (_) throws(APIError) in
                self.requests.reset()
                return .noContent
            }
        case ("faults", "POST"): return .control { (body) throws(APIError) in try self.addFault(body) }
        case ("faults", "DELETE"):
            return .control { (_) throws(APIError) in
                self.faults.removeRules()
                return .noContent
            }
        default: throw .notFound("_firemount/\(path.joined(separator: "/"))")
        }
    }

    /// `/retry_test[/id]`, the reference testbench's interface.
    func routeRetryTest(_ request: Request, id: String?) throws(APIError) -> Route {
        switch (id, request.method) {
        case (nil, "POST"): return .control { (body) throws(APIError) in try self.addRetryTest(body) }
        case (let id?, "GET"):
            return .control { (_) throws(APIError) in
                Response(json: Self.document(of: try self.faults.retryTest(id), id: id))
            }
        case (let id?, "DELETE"):
            return .control { (_) throws(APIError) in
                try self.faults.removeRetryTest(id)
                return Response(json: Array("{}".utf8))
            }
        default: throw .notFound("retry_test")
        }
    }

    private func addFault(_ body: [UInt8]) throws(APIError) -> Response {
        let document = try JSONValue.parseObject(body)
        guard let operation = document["operation"]?.text else { throw .required("operation") }
        let texts = document["instruction"]?.elements?.compactMap(\.text) ?? [document["instruction"]?.text ?? ""]
        faults.add(
            Faults.Rule(
                operation: operation, name: document["name"]?.text.map { ObjectName(stored: Array($0.utf8)) },
                instructions: try Instruction.list(texts.joined(separator: ",")),
                skip: document["skip"]?.text.flatMap { Int($0) } ?? 0,
                times: document["times"]?.text.flatMap { Int($0) } ?? 1))
        return .noContent
    }

    private func addRetryTest(_ body: [UInt8]) throws(APIError) -> Response {
        let document = try JSONValue.parseObject(body)
        guard let instructions = document["instructions"]?.members else { throw .required("instructions") }
        if let transport = document["transport"]?.text, transport.uppercased() != "HTTP" {
            throw .invalidParameter("transport", transport)
        }
        let id = try faults.addRetryTest(instructions.mapValues { $0.elements?.compactMap(\.text) ?? [] })
        return Response(json: Self.document(of: try faults.retryTest(id), id: id))
    }

    private static func document(of test: Faults.RetryTest, id: String) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.string("id", id)
            json.object("instructions") { json in
                for (method, texts) in test.texts.sorted(by: { $0.key < $1.key }) {
                    json.key(method)
                    json.array { json in
                        for text in texts { json.string(nil, text) }
                    }
                }
            }
            json.bool("completed", test.isCompleted)
            json.string("transport", "HTTP")
        }
        return json.bytes
    }
}

extension Route {
    static func control(_ answer: @escaping ([UInt8]) throws(APIError) -> Response) -> Route {
        var route = Route("control", answer: answer)
        route.isControl = true
        return route
    }
}
