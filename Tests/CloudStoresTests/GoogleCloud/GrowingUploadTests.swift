import HTTPTransport
import Locking
import ObjectStore
import Testing

@testable import CloudStores

/// Uploads that begin while their source still grows.
struct GrowingUploadTests {
    typealias Step = ScriptedTransport.Step

    private let bytes = pattern(700_000)
    private let session = Step.answer(200, [("location", "http://127.0.0.1:1/session?upload_id=7")])
    private var done: Step { .json(resource("x", bytes)) }

    private func stored(upTo end: Int) -> Step { .answer(308, [("range", "bytes=0-\(end - 1)")]) }

    private func upload(_ source: GrowingBytes) -> Upload {
        Upload(
            name: ObjectName("x"), headers: ObjectHeaders(contentType: "text/plain", custom: ["a": "1", "b": "2"]),
            precondition: .mustNotExist, source: source, growth: source)
    }

    private func store(_ script: [Step]) throws -> ScriptedStore {
        try ScriptedStore(script, pieceSize: 50_000) { $0.streamChunkSize = 262_144 }
    }

    @Test func whatIsThereLeavesAndTheEndTellsTheRest() async throws {
        let scripted = try store([session, stored(upTo: 262_144), stored(upTo: 524_288), done])
        let source = GrowingBytes(bytes, ends: [300_000, 600_000])
        source.headersAtEnd = ObjectHeaders(
            contentType: "text/plain", custom: ["a": "1", "b": "3", "mtime": "now", "Upper": "x", "odd": "ä"])
        _ = try await scripted.store.insert(upload(source))
        let ranges = scripted.asked.map { $0.header("Content-Range") }
        #expect(ranges == [nil, "bytes 0-262143/*", "bytes 262144-524287/*", "bytes 524288-699999/700000"])
        #expect(scripted.asked[0].header("X-Upload-Content-Length") == nil)
        #expect(!scripted.asked[0].text.contains("crc32c"))
        let last = scripted.asked[3]
        #expect(last.header("x-goog-hash") == "crc32c=\(checksum(of: bytes).checksumText)")
        #expect(last.header("x-goog-meta-b") == "3")
        #expect(last.header("x-goog-meta-mtime") == "now")
        let others = ["a", "Upper", "odd"].compactMap { last.header("x-goog-meta-\($0)") }
        #expect(others.isEmpty, "what is so already, or what a header cannot carry")
    }

    @Test func aSourceThatEndsWhereTheServerIsCostsAnEmptyRequest() async throws {
        let whole = pattern(262_144)
        let scripted = try store([session, stored(upTo: 262_144), .json(resource("x", whole))])
        _ = try await scripted.store.insert(upload(GrowingBytes(whole, ends: [262_144])))
        #expect(scripted.asked[2].header("Content-Range") == "bytes */262144")
    }

    @Test func aSessionThatVanishesIsOpenedAnewFromTheStart() async throws {
        let scripted = try store(
            [session, stored(upTo: 262_144), .error(410), session, stored(upTo: 262_144), stored(upTo: 524_288), done])
        _ = try await scripted.store.insert(upload(GrowingBytes(bytes, ends: [300_000, 600_000])))
        #expect(scripted.asked[4].header("Content-Range") == "bytes 0-262143/*")
    }

    @Test func aServerThatTookLessGetsTheRest() async throws {
        let scripted = try store(
            [session, stored(upTo: 100_000), stored(upTo: 362_144), stored(upTo: 624_288), done])
        _ = try await scripted.store.insert(upload(GrowingBytes(bytes, ends: [300_000, 400_000, 650_000])))
        let ranges = scripted.asked.dropFirst().map { $0.header("Content-Range") ?? "" }
        #expect(ranges.last == "bytes 624288-699999/700000")
    }

    @Test func asLongAsNobodyWaitsTheNetworkMayBeAway() async throws {
        let absences = Array(repeating: Step.failure(.notConnected), count: 100)
        let scripted = try store([session] + absences + [stored(upTo: 262_144), done])
        let source = GrowingBytes(bytes, ends: [300_000])
        _ = try await scripted.store.insert(upload(source))
        #expect(scripted.asked.count == 103)
    }

    @Test func fromThenOnItsTimeIsLimited() async throws {
        let absences = Array(repeating: Step.failure(.notConnected), count: 100)
        let scripted = try store([session, stored(upTo: 262_144)] + absences)
        let error = await failure(
            of: try await scripted.store.insert(upload(GrowingBytes(bytes, ends: [300_000]))))
        #expect(error?.kind == .unreachable)
        #expect(scripted.clock.pauses.reduce(.zero, +) < .seconds(60))
    }

    @Test func anObjectThatTheServerMakesTooEarlyIsReplaced() async throws {
        let early = Step.json(resource("x", Array(bytes[..<262_144]), generation: 5))
        let scripted = try store([session, early, session, stored(upTo: 262_144), done])
        _ = try await scripted.store.insert(upload(GrowingBytes(bytes, ends: [300_000])))
        #expect(scripted.asked[2].query("ifGenerationMatch") == "5")
    }

    @Test func whatIsGivenUpEndsItsSession() async throws {
        let scripted = try store([session, stored(upTo: 262_144), .answer(499)])
        let source = GrowingBytes(bytes, ends: [300_000], isAbandoned: true)
        let error = await failure(of: try await scripted.store.insert(upload(source)))
        #expect(error?.kind == .cancelled)
        #expect(scripted.asked.last?.request.method == .delete)
    }
}

/// A source that grows to each of `ends` in turn, and then is whole.
private final class GrowingBytes: UploadSource, UploadGrowth {
    private struct State {
        var ends: [Int64]
        var isWhole = false
        var headers = ObjectHeaders(contentType: "text/plain", custom: ["a": "1", "b": "2"])
    }

    private let bytes: [UInt8]
    private let isAbandoned: Bool
    private let state: Lock<State>

    init(_ bytes: [UInt8], ends: [Int64], isAbandoned: Bool = false) {
        self.bytes = bytes
        self.isAbandoned = isAbandoned
        state = Lock(State(ends: ends))
    }

    var headersAtEnd: ObjectHeaders {
        get { state.withLock { $0.headers } }
        set { state.withLock { $0.headers = newValue } }
    }

    var size: Int64 { Int64(bytes.count) }
    var crc32c: UInt32 { checksum(of: bytes) }
    var isAwaited: Bool { state.withLock { $0.isWhole } }

    func next(beyond offset: Int64) async -> Growth {
        state.withLock { state in
            while let end = state.ends.first {
                state.ends.removeFirst()
                if end > offset { return .more(to: end) }
            }
            if isAbandoned { return .abandoned }
            state.isWhole = true
            return .ended(state.headers)
        }
    }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let part = bytes.dropFirst(Int(offset)).prefix(buffer.count)
        unsafe buffer.copyBytes(from: part)
        return part.count
    }
}
