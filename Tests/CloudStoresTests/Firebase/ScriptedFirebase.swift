import HTTPTransport
import Logging
import ObjectStore
import TestSupport

@testable import CloudStores

/// A Firebase store whose server is a script.
struct ScriptedFirebase {
    typealias Step = ScriptedTransport.Step

    let transport: ScriptedTransport
    let store: FirebaseStore
    let clock = PauseClock()

    init(
        _ script: [Step], credentials: any CredentialSource = FixedCredentials(Authorization(value: "Firebase t")),
        endpoint: String = "http://127.0.0.1:1", pieceSize: Int = 50_000,
        _ configure: (inout FirebaseStore.Configuration) -> Void = { _ in }
    ) throws {
        transport = ScriptedTransport(script, pieceSize: pieceSize)
        var configuration = FirebaseStore.Configuration()
        configure(&configuration)
        store = FirebaseStore(
            bucket: "demo", endpoint: try ServiceEndpoint(parsing: endpoint), transport: transport,
            credentials: credentials, configuration: configuration, clock: clock.retryClock, log: .silent)
    }

    var asked: [ScriptedTransport.Asked] { transport.asked }
    var left: Int { transport.left }

    /// Method and command of each request: `POST start`, `GET`.
    var course: [String] {
        asked.map { asked in
            let command = asked.header("X-Goog-Upload-Command").map { " " + $0 } ?? ""
            let offset = asked.header("X-Goog-Upload-Offset").map { " " + $0 } ?? ""
            return asked.request.method.rawValue + command + offset
        }
    }

    func read(_ request: ReadRequest) async -> CollectedRead.Outcome {
        let receiver = CollectedRead()
        store.read(request, into: receiver)
        return await receiver.outcome()
    }
}

/// The JSON of an object as a Firebase server answers it.
func firebaseResource(
    _ name: String, _ bytes: [UInt8], generation: Int64 = 7, metageneration: Int64 = 1, tokens: String = "t1",
    disposition: String = "inline", metadata: String = #"{"k":"v"}"#
) -> String {
    #"{"name":"\#(name)","bucket":"demo","generation":"\#(generation)","metageneration":"\#(metageneration)","#
        + #""size":"\#(bytes.count)","contentType":"text/plain","contentEncoding":"identity","#
        + #""contentDisposition":"\#(disposition)","crc32c":"\#(checksum(of: bytes).checksumText)","#
        + #""updated":"2026-01-01T00:00:00.123Z","timeCreated":"2026-01-01T00:00:00.000Z","etag":"CL","#
        + #""storageClass":"STANDARD","downloadTokens":"\#(tokens)","metadata":\#(metadata)}"#
}

extension ScriptedTransport.Step {
    static let opened = answer(
        200,
        [
            ("x-goog-upload-status", "active"), ("x-goog-upload-url", "http://127.0.0.1:1/session?upload_id=7"),
            ("x-goog-upload-chunk-granularity", "262144"),
        ])

    static func session(_ status: Int, _ state: String?, received: Int? = nil, _ body: String = "") -> Self {
        var headers: [(name: String, value: String)] = []
        if let state { headers.append(("x-goog-upload-status", state)) }
        if let received { headers.append(("x-goog-upload-size-received", String(received))) }
        return .answer(status, headers, Array(body.utf8))
    }
}
