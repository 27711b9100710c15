import BucketServer
import Foundation
import HTTPTransport
import Logging
import TestSupport
import Testing

@testable import CloudStorage

/// The package's own server in this process, with one empty bucket, and a `Storage` on it.
final class LocalBucket: Sendable {
    static let name = "demo.appspot.com"

    let app: FirebaseApp
    let storage: Storage
    let root: String
    let port: Int
    private let folder = temporaryDirectory()
    private let server: LocalServer

    init(rules: String? = nil, _ configure: (inout LocalServer.Configuration) -> Void = { _ in }) throws {
        var configuration = LocalServer.Configuration(dataDirectory: "\(folder.path)/data")
        configuration.buckets = [Self.name]
        // What bounds uploads, and is of no interest here.
        configuration.computesMD5 = false
        if let rules {
            configuration.rulesFile = "\(folder.path)/storage.rules"
            try Data(rules.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/storage.rules"))
        }
        configure(&configuration)
        server = try LocalServer(configuration)
        port = Int(try server.start())
        root = "http://127.0.0.1:\(port)"
        app = testApp(bucket: Self.name)
        storage = Storage.storage(app: app)
        storage.useEmulator(withHost: "127.0.0.1", port: port)
        Auth.auth(app: app).useEmulator(withHost: "127.0.0.1", port: port)
    }

    deinit { server.stop() }

    func reference(_ path: String) -> StorageReference { storage.reference(withPath: path) }

    /// From now on requests fail as `instruction` says; see docs/PROTOCOL.md, faults.
    func fail(_ operation: String, _ instruction: String, times: Int = 1, skip: Int = 0) async throws {
        let rule: [String: Any] = [
            "operation": operation, "instruction": instruction, "times": String(times), "skip": String(skip),
        ]
        _ = try await control(.post, "faults", JSONSerialization.data(withJSONObject: rule))
    }

    func forgetRequests() async throws { _ = try await control(.delete, "requests", Data()) }

    /// Bytes of the bodies that came since `forgetRequests`, how often what was asked, and for which bytes.
    func requests() async throws -> (
        bytesReceived: Int64, counts: [String: Int], log: [(operation: String, range: String?)]
    ) {
        let answer = try await control(.get, "requests", Data())
        let document = try JSONSerialization.jsonObject(with: answer) as? [String: Any] ?? [:]
        let log = document["log"] as? [[String: Any]] ?? []
        return (
            (document["bytesReceived"] as? NSNumber)?.int64Value ?? -1,
            (document["counts"] as? [String: NSNumber] ?? [:]).mapValues(\.intValue),
            log.map { ($0["operation"] as? String ?? "", $0["range"] as? String) }
        )
    }

    private func control(_ method: HTTPRequest.Method, _ path: String, _ body: Data) async throws -> Data {
        let request = HTTPRequest(method, "\(root)/_firemount/\(path)", body: .bytes(Array(body)))
        let answer = try await Self.transport.answer(to: request, bodyLimit: 1 << 24)
        try #require((200...299).contains(answer.status), "\(path): \(answer.status)")
        return Data(answer.body)
    }

    private static let transport = CurlTransport(log: .silent)
}
