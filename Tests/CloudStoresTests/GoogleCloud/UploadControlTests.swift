import HTTPTransport
import Locking
import ObjectStore
import Testing

@testable import CloudStores

/// Uploads that are paused, resumed and cancelled while they run.
struct UploadControlTests {
    typealias Step = ScriptedTransport.Step

    private let bytes = pattern(600_000)
    private let control = TransferControl()
    private let session = Step.answer(200, [("location", "http://127.0.0.1:1/session?upload_id=7")])
    private var done: Step { .json(resource("x", bytes)) }

    /// Uploads of more than 10 bytes are resumable.
    private func store(_ script: [Step], wholeUploadLimit: Int64 = 10) throws -> ScriptedStore {
        try ScriptedStore(script, pieceSize: 50_000) { $0.wholeUploadLimit = wholeUploadLimit }
    }

    private func upload(if precondition: Precondition = .mustNotExist) -> Upload {
        var upload = Upload("x", bytes, if: precondition)
        upload.control = control
        return upload
    }

    private func stored(upTo end: Int) -> Step { .answer(308, [("range", "bytes=0-\(end - 1)")]) }

    /// Until `count` requests were made.
    private func requests(_ count: Int, of scripted: ScriptedStore) async {
        while scripted.asked.count < count { await Task.yield() }
    }

    @Test func aPausedUploadGoesOnWhereTheServerIs() async throws {
        let scripted = try store([session, .silence, stored(upTo: 262_144), done])
        async let object = scripted.store.insert(upload())
        await requests(2, of: scripted)
        control.pause()
        for _ in 0..<100 { await Task.yield() }
        #expect(scripted.asked.count == 2, "a paused upload sends nothing")
        control.resume()
        #expect(try await object.size == 600_000)
        #expect(
            scripted.asked.map { $0.header("Content-Range") }
                == [nil, "bytes 0-599999/600000", "bytes */600000", "bytes 262144-599999/600000"])
        #expect(control.progress.confirmed == 600_000)
        #expect(control.progress.total == 600_000)
    }

    @Test func aCancelledUploadEndsItsSession() async throws {
        let scripted = try store([session, .silence, .answer(499)])
        async let error = failure(of: try await scripted.store.insert(upload()))
        await requests(2, of: scripted)
        control.cancel()
        #expect(await error?.kind == .cancelled)
        #expect(scripted.asked.last?.request.method == .delete)
        #expect(scripted.asked.last?.request.url == "http://127.0.0.1:1/session?upload_id=7")
    }

    @Test func aPausedUploadCanBeCancelled() async throws {
        let scripted = try store([session, .silence, .answer(499)])
        async let error = failure(of: try await scripted.store.insert(upload()))
        await requests(2, of: scripted)
        control.pause()
        control.cancel()
        #expect(await error?.kind == .cancelled)
        #expect(scripted.asked.count == 3)
    }

    @Test func anUploadThatIsPausedBeforeItBeginsSendsNothing() async throws {
        let scripted = try store([session, done])
        control.pause()
        async let object = scripted.store.insert(upload())
        for _ in 0..<100 { await Task.yield() }
        #expect(scripted.asked.isEmpty)
        control.resume()
        #expect(try await object.size == 600_000)
    }

    @Test func aCancelledTaskEndsTheSessionToo() async throws {
        let scripted = try store([session, .silence, .answer(499)])
        let task = Task { try await scripted.store.insert(upload()) }
        await requests(2, of: scripted)
        task.cancel()
        #expect(await failure(of: try await task.value)?.kind == .cancelled)
        #expect(scripted.asked.last?.request.method == .delete)
    }

    @Test func anUploadInOneRequestIsSentAgainAfterAPause() async throws {
        let scripted = try store([.silence, done], wholeUploadLimit: 1_000_000)
        async let object = scripted.store.insert(upload())
        await requests(1, of: scripted)
        control.pause()
        control.resume()
        #expect(try await object.size == 600_000)
        #expect(scripted.asked.count == 2)
    }

    @Test func whatWasStoredBeforeThePauseIsFound() async throws {
        let scripted = try store([.silence, .error(412), done], wholeUploadLimit: 1_000_000)
        async let object = scripted.store.insert(upload())
        await requests(1, of: scripted)
        control.pause()
        control.resume()
        #expect(try await object.objectGeneration == ObjectGeneration(7))
    }

    @Test func anUploadInOneRequestCanBeCancelled() async throws {
        let scripted = try store([.silence], wholeUploadLimit: 1_000_000)
        async let error = failure(of: try await scripted.store.insert(upload()))
        await requests(1, of: scripted)
        control.cancel()
        #expect(await error?.kind == .cancelled)
    }
}
