import BucketServer
import FoundationEssentials
import TestSupport

/// A server of one's own with the bucket `demo`, on a directory that goes with it.
final class TestServer {
    let directory: TemporaryDirectory
    private let client: WireClient
    let port: UInt16
    private let server: LocalServer

    init(configure: (inout LocalServer.Configuration) -> Void = { _ in }) throws {
        directory = temporaryDirectory()
        (server, port) = try Self.start(directory, configure)
        client = WireClient(port: port)
    }

    /// Another server on the directory of one that was stopped.
    init(restarting other: TestServer) throws {
        other.server.stop()
        directory = other.directory
        (server, port) = try Self.start(directory) { _ in }
        client = WireClient(port: port)
    }

    deinit {
        client.disconnect()
        server.stop()
    }

    private static func start(
        _ directory: TemporaryDirectory, _ configure: (inout LocalServer.Configuration) -> Void
    ) throws -> (LocalServer, UInt16) {
        var configuration = LocalServer.Configuration(dataDirectory: directory.path)
        configuration.buckets = ["demo"]
        configure(&configuration)
        let server = try LocalServer(configuration)
        return (server, try server.start())
    }

    // MARK: On the one connection. Through the server, because a server ends with its last use.

    @discardableResult
    func send(
        _ method: String, _ target: String, _ headers: [(String, String)] = [], body: [UInt8]? = nil
    ) -> Answer {
        client.send(method, target, headers, body: body)
    }

    func sendHead(_ method: String, _ target: String, _ headers: [(String, String)]) {
        client.connect()
        client.sendHead(method, target, headers)
    }

    func readAnswer() -> Answer { client.readAnswer() }

    var connections: Int { client.connections }

    // MARK: What most tests do

    @discardableResult
    func put(_ name: String, _ content: String = "", query: String = "", type: String? = nil) -> Answer {
        put(name, Array(content.utf8), query: query, type: type)
    }

    @discardableResult
    func put(_ name: String, _ content: [UInt8], query: String = "", type: String? = nil) -> Answer {
        client.send(
            "POST", "/upload/storage/v1/b/demo/o?uploadType=media&name=\(escaped(name))\(query)",
            type.map { [("Content-Type", $0)] } ?? [], body: content)
    }

    func get(_ name: String, query: String = "") -> Answer {
        client.send("GET", "/storage/v1/b/demo/o/\(escaped(name))\(query)")
    }

    func media(_ name: String, _ headers: [(String, String)] = []) -> Answer {
        client.send("GET", "/storage/v1/b/demo/o/\(escaped(name))?alt=media", headers)
    }

    func call(_ method: String, _ target: String, json: String? = nil, _ headers: [(String, String)] = []) -> Answer {
        client.send(
            method, target, headers + [("Content-Type", "application/json; charset=UTF-8")],
            body: json.map { Array($0.utf8) } ?? (method == "GET" ? nil : []))
    }

    func addFault(_ json: String) { precondition(call("POST", "/_firemount/faults", json: json).status == 204) }
}

func escaped(_ name: String) -> String {
    name.utf8.map { byte in
        let character = Character(UnicodeScalar(byte))
        if character.isASCII, character.isLetter || character.isNumber { return String(character) }
        return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
}

/// A JSON answer's members, for tests that look at a few.
struct Document: Decodable {
    var name: String?
    var size: String?
    var generation: String?
    var metageneration: String?
    var contentType: String?
    var contentEncoding: String?
    var cacheControl: String?
    var crc32c: String?
    var md5Hash: String?
    var etag: String?
    var timeCreated: String?
    var updated: String?
    var componentCount: Int?
    var metadata: [String: String]?
    var items: [Document]?
    var prefixes: [String]?
    var nextPageToken: String?
    var done: Bool?
    var rewriteToken: String?
    var totalBytesRewritten: String?
    var id: String?
    var completed: Bool?
    var error: Failure?

    struct Token: Decodable {
        let accessToken: String

        enum CodingKeys: String, CodingKey { case accessToken = "access_token" }
    }

    struct Failure: Decodable {
        struct Detail: Decodable { let reason: String }
        let code: Int
        let errors: [Detail]
    }
}

extension Answer {
    var document: Document {
        (try? JSONDecoder().decode(Document.self, from: Data(body))) ?? Document()
    }

    var accessToken: String? {
        (try? JSONDecoder().decode(Document.Token.self, from: Data(body)))?.accessToken
    }

    var reason: String? { document.error?.errors.first?.reason }
}
