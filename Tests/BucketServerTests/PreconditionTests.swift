import Testing

struct PreconditionTests {
    private let server: TestServer
    private let generation: String

    init() throws {
        server = try TestServer()
        generation = server.put("f", "x").document.generation ?? ""
    }

    /// `G` stands for the live object's generation.
    @Test(arguments: [
        ("GET", "ifGenerationMatch=G", 200), ("GET", "ifGenerationMatch=1", 412), ("GET", "ifGenerationMatch=0", 412),
        ("GET", "ifGenerationNotMatch=G", 304), ("GET", "ifGenerationNotMatch=1", 200),
        ("GET", "ifMetagenerationMatch=1", 200), ("GET", "ifMetagenerationMatch=2", 412),
        ("GET", "ifMetagenerationNotMatch=1", 304), ("GET", "generation=G", 200), ("GET", "generation=1", 404),
        ("GET", "ifGenerationMatch=x", 400), ("PATCH", "ifMetagenerationMatch=2", 412),
        ("PATCH", "ifMetagenerationMatch=1", 200), ("PATCH", "generation=1", 404),
        ("PATCH", "ifGenerationNotMatch=G", 412), ("PUT", "ifGenerationMatch=1", 412),
        ("DELETE", "ifGenerationMatch=1", 412), ("DELETE", "ifGenerationMatch=G", 204), ("DELETE", "generation=1", 404),
        ("DELETE", "generation=G", 204),
    ])
    func aConditionDecides(method: String, condition: String, status: Int) {
        let query = condition.replacing("=G", with: "=\(generation)")
        let answer = server.call(method, "/storage/v1/b/demo/o/f?\(query)", json: method == "GET" ? nil : "{}")
        #expect(answer.status == status)
        if status == 412 { #expect(answer.reason == "conditionNotMet") }
        if status == 304 { #expect(answer.body.isEmpty) }
        if method == "GET" {
            #expect(server.call("GET", "/storage/v1/b/demo/o/f?alt=media&\(query)").status == status)
        }
    }

    @Test(arguments: [
        ("f", "ifGenerationMatch=0", 412), ("f", "ifGenerationMatch=G", 200), ("f", "ifGenerationMatch=7", 412),
        ("f", "ifGenerationNotMatch=G", 412), ("new", "ifGenerationMatch=0", 200), ("new", "ifGenerationMatch=7", 412),
        ("new", "ifGenerationNotMatch=0", 412), ("new", "ifMetagenerationMatch=1", 412),
    ])
    func anInsertIsConditional(name: String, condition: String, status: Int) {
        let query = "&" + condition.replacing("=G", with: "=\(generation)")
        #expect(server.put(name, "y", query: query).status == status)
        if status != 200, name == "f" { #expect(server.media("f").text == "x") }
    }

    @Test func anEtagIsAConditionToo() {
        let etag = server.get("f").document.etag ?? ""
        #expect(server.media("f", [("If-None-Match", etag)]).status == 304)
        #expect(server.media("f", [("If-Match", etag)]).status == 200)
        #expect(server.media("f", [("If-Match", "other")]).status == 412)
    }
}
