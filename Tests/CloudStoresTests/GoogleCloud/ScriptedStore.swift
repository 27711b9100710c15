import HTTPTransport
import Locking
import Logging
import ObjectStore
import TestSupport

@testable import CloudStores

/// A clock that stands still but for the pauses that are slept through, at once.
final class PauseClock: Sendable {
    private struct State {
        var now: Duration = .seconds(1_000)
        var pauses: [Duration] = []
    }

    private let state = Lock(State())
    private let random: Double

    /// - Parameter random: what every draw yields.
    init(random: Double = 0.5) { self.random = random }

    var pauses: [Duration] { state.withLock { $0.pauses } }

    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    var retryClock: RetryClock {
        RetryClock(
            now: { self.state.withLock { $0.now } },
            sleep: { pause in
                try Task.checkCancellation()
                self.state.withLock { state in
                    state.now += pause
                    state.pauses.append(pause)
                }
            },
            random: { self.random })
    }
}

/// A store whose server is a script.
struct ScriptedStore {
    let transport: ScriptedTransport
    let store: GoogleCloudStore
    let clock: PauseClock

    init(
        _ script: [ScriptedTransport.Step], credentials: any CredentialSource = FixedCredentials(.anonymous),
        endpoint: String = "http://127.0.0.1:1", pieceSize: Int = 1_000, random: Double = 0.5,
        _ configure: (inout GoogleCloudStore.Configuration) -> Void = { _ in }
    ) throws {
        transport = ScriptedTransport(script, pieceSize: pieceSize)
        clock = PauseClock(random: random)
        var configuration = GoogleCloudStore.Configuration()
        configure(&configuration)
        store = GoogleCloudStore(
            bucket: "demo", endpoint: try ServiceEndpoint(parsing: endpoint), transport: transport,
            credentials: credentials, configuration: configuration, clock: clock.retryClock, log: .silent)
    }

    var asked: [ScriptedTransport.Asked] { transport.asked }
    var left: Int { transport.left }

    func read(_ request: ReadRequest) async -> CollectedRead.Outcome {
        let receiver = CollectedRead()
        store.read(request, into: receiver)
        return await receiver.outcome()
    }
}

/// Tokens that are handed out one after the other, each time the one before was refused.
final class TokenRow: CredentialSource {
    private let state: Lock<[String]>
    private let cachesFirst: Bool

    init(_ tokens: [String], cachesFirst: Bool = true) {
        state = Lock(tokens)
        self.cachesFirst = cachesFirst
    }

    func cachedAuthorization() -> Authorization? { cachesFirst ? current : nil }

    private var current: Authorization { Authorization(value: state.withLock { "Bearer \($0[0])" }) }

    func authorization(replacing rejected: Authorization?) async throws(StorageError) -> Authorization {
        state.withLock { tokens in
            if rejected?.value == "Bearer \(tokens[0])", tokens.count > 1 { tokens.removeFirst() }
        }
        return current
    }
}

/// The JSON of an object as a server answers it.
func resource(
    _ name: String, _ bytes: [UInt8], generation: Int64 = 7, metageneration: Int64 = 1,
    contentType: String = "text/plain",
    metadata: String = "{}"
) -> String {
    #"{"kind":"storage#object","name":"\#(name)","bucket":"demo","generation":"\#(generation)","#
        + #""metageneration":"\#(metageneration)","size":"\#(bytes.count)","contentType":"\#(contentType)","#
        + #""crc32c":"\#(checksum(of: bytes).checksumText)","updated":"2026-01-01T00:00:00.123Z","#
        + #""timeCreated":"2026-01-01T00:00:00Z","etag":"CL","storageClass":"STANDARD","metadata":\#(metadata)}"#
}

/// The head of a media answer.
func mediaHead(
    of object: [UInt8], _ span: Range<Int>? = nil, generation: Int64 = 7, checksum: String? = nil
) -> [(name: String, value: String)] {
    var head = [
        ("x-goog-generation", String(generation)), ("x-goog-metageneration", "1"),
        ("content-length", String(span?.count ?? object.count)),
        ("x-goog-hash", "crc32c=\(checksum ?? CloudStoresTests.checksum(of: object).checksumText),md5=x"),
    ]
    if let span { head.append(("content-range", "bytes \(span.lowerBound)-\(span.upperBound - 1)/\(object.count)")) }
    return head
}

func range(_ span: Range<Int>, of object: [UInt8], generation: Int64 = 7) -> ScriptedTransport.Step {
    .answer(206, mediaHead(of: object, span, generation: generation), Array(object[span]))
}

func whole(_ object: [UInt8], generation: Int64 = 7) -> ScriptedTransport.Step {
    .answer(200, mediaHead(of: object, generation: generation), object)
}

/// Bytes that differ from place to place.
func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 7) } }
