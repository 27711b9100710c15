import Foundation
import Locking
import ObjectStore
import TestSupport
import Testing

@testable import CloudStorage

/// docs/CLOUDSTORAGE.md, tasks: who is told what and when.
struct ObserverTests {
    private let store = InMemoryStore()
    private let test: TestStorage

    init() { test = TestStorage(store) }

    private func note(_ text: String) -> @Sendable (StorageTaskSnapshot) -> Void { { [log] _ in log.add(text) } }

    private let log = CallLog()

    private final class CallLog: Sendable {
        private let calls = Lock<[String]>([])
        func add(_ text: String) { calls.withLock { $0.append(text) } }
        var all: [String] { calls.withLock { $0 } }
    }

    private func heldUpload() async -> StorageUploadTask {
        store.hold(.insert)
        let task = test.reference("x").putData(Data("hello".utf8))
        await store.waitUntilHeld(.insert)
        return task
    }

    @Test func aRemovedObserverIsToldNothing() async {
        let task = await heldUpload()
        let handle = task.observe(.success, handler: note("removed"))
        task.observe(.success, handler: note("stays"))
        task.removeObserver(withHandle: handle)
        store.release(.insert)
        await task.ended()
        #expect(log.all == ["stays"])
    }

    @Test func observersOfOneStatusAreRemovedTogether() async {
        let task = await heldUpload()
        task.observe(.pause, handler: note("pause"))
        task.observe(.success, handler: note("success 1"))
        task.observe(.success, handler: note("success 2"))
        task.removeAllObservers(for: .success)
        task.pause()
        store.release(.insert)
        task.resume()
        await task.ended()
        #expect(log.all == ["pause"])
    }

    @Test func aCompletionIsCalledThoughAllObserversAreRemoved() async {
        store.hold(.insert)
        let log = log
        let task = test.reference("x").putData(Data(), metadata: nil) { _, _ in log.add("completion") }
        task.observe(.success, handler: note("observer"))
        task.removeAllObservers()
        store.release(.insert)
        await task.ended()
        #expect(log.all == ["completion"])
    }

    @Test func handlesAreDifferent() async {
        let task = await heldUpload()
        let handles = (0..<10).map { _ in task.observe(.success) { _ in } }
        #expect(Set(handles).count == 10)
        store.release(.insert)
        await task.ended()
    }

    @Test func whoComesLateIsToldOnce() async {
        let task = await heldUpload()
        task.observe(.resume, handler: note("running"))
        task.pause()
        task.observe(.pause, handler: note("paused"))
        await task.settled()
        #expect(log.all == ["paused"] || log.all == ["running", "paused"])
        store.release(.insert)
        task.resume()
        await task.ended()
        task.observe(.success, handler: note("success"))
        task.observe(.failure, handler: note("failure"))
        await task.settled()
        #expect(log.all.filter { $0 == "success" }.count == 1)
        #expect(!log.all.contains("failure"))
    }

    @Test func whoComesAfterCancellingIsNotTold() async {
        let task = await heldUpload()
        task.cancel()
        task.observe(.failure, handler: note("failure"))
        await task.ended()
        await task.settled()
        #expect(log.all.isEmpty)
        store.release(.insert)
    }

    @Test func everyStartIsToldOnceToWhoAsksAtOnce() async {
        for number in 0..<50 {
            let task = test.reference("\(number)").putData(Data("x".utf8))
            task.observe(.resume, handler: note("resume"))
            await task.ended()
            await task.settled()
        }
        // Whoever asks when everything is over already is not told.
        #expect(log.all.count <= 50)
    }

    /// A handler that takes long does not make a line of events behind it.
    @Test func progressIsToldAsFastAsItIsHeard() async throws {
        let slow = InMemoryStore(pieceSize: 10)
        slow.put("big", [UInt8](repeating: 1, count: 100_000))
        let test = TestStorage(slow)
        let queue = DispatchQueue(label: "slow")
        test.storage.callbackQueue = queue
        queue.suspend()
        let task = test.reference("big").getData(maxSize: 100_000) { _, _ in }
        task.observe(.progress, handler: note("progress"))
        await task.reached { $0.status == .success }
        queue.resume()
        await task.ended()
        #expect(log.all.count <= 3)
        #expect(!log.all.isEmpty)
    }

    @Test func snapshotsPrintAsOnOtherPlatforms() async {
        let task = await heldUpload()
        #expect("\(task.snapshot)".hasPrefix("<State: "))
        task.pause()
        #expect("\(task.snapshot)" == "<State: Paused>")
        store.release(.insert)
        task.resume()
        await task.ended()
        #expect("\(task.snapshot)" == "<State: Success>")
    }
}
