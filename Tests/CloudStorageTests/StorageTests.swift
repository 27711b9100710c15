import Dispatch
import Foundation
import Locking
import ObjectStore
import TestSupport
import Testing

@testable import CloudStorage

struct StorageTests {
    @Test func settingsHaveTheDefaultsOfOtherPlatforms() {
        let storage = TestStorage().storage
        #expect(storage.maxUploadRetryTime == 600)
        #expect(storage.maxDownloadRetryTime == 600)
        #expect(storage.maxOperationRetryTime == 120)
        #expect(storage.uploadChunkSizeBytes == .max)
    }

    @Test func thereIsOneInstanceForEachAppAndBucket() {
        let app = testApp(bucket: "own")
        #expect(Storage.storage(app: app) === Storage.storage(app: app, url: "gs://own"))
        #expect(Storage.storage(app: app) === Storage.storage(app: app).copy())
        #expect(Storage.storage(app: app) != Storage.storage(app: app, url: "gs://other/"))
        #expect(Storage.storage(app: app) != Storage.storage(app: testApp(bucket: "own")))
        #expect(Storage.storage(app: app).reference().bucket == "own")
    }

    @Test func callsGetTheLimitsThatHoldWhenTheyBegin() {
        let requests = Lock<[StoreRequest]>([])
        let storage = Storage(app: testApp(bucket: "b"), bucket: "b") { _, request in
            requests.withLock { $0.append(request) }
            return InMemoryStore()
        }
        storage.maxUploadRetryTime = 7
        storage.maxDownloadRetryTime = 8
        storage.maxOperationRetryTime = 9
        storage.uploadChunkSizeBytes = 1 << 20
        for purpose in [Storage.Purpose.upload, .download, .operation] {
            _ = storage.store(for: purpose, bucket: "b")
            _ = storage.store(for: purpose, bucket: "b")
        }
        let made = requests.withLock { $0 }
        #expect(made.map(\.timeLimit) == [7, 8, 9])
        #expect(made.map(\.chunkSize) == [1 << 20, nil, nil])
    }

    @Test func theEmulatorIsWhereItIsSaidToBe() {
        let requests = Lock<[StoreRequest]>([])
        let storage = Storage(app: testApp(bucket: "b"), bucket: "b") { _, request in
            requests.withLock { $0.append(request) }
            return InMemoryStore()
        }
        storage.useEmulator(withHost: "127.0.0.1", port: 9_199)
        _ = storage.store(for: .operation, bucket: "b")
        #expect(requests.withLock { $0 }.first?.endpoint == "http://127.0.0.1:9199")
        #expect(FirebaseConnection.endpoint(storage.endpoint).root == "http://127.0.0.1:9199")
    }

    @Test func handlersAreCalledOnTheCallbackQueue() async throws {
        let test = TestStorage()
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: key, value: true)
        test.storage.callbackQueue = queue
        let places = Lock<[Bool]>([])
        let note: @Sendable () -> Void = {
            places.withLock { $0.append(DispatchQueue.getSpecific(key: key) == true) }
        }
        let task = test.reference("x").putData(Data("x".utf8), metadata: nil) { _, _ in note() }
        task.observe(.progress) { _ in note() }
        task.observe(.success) { _ in note() }
        await task.ended()
        await withCheckedContinuation { continuation in
            test.reference("x").getMetadata { _, _ in
                note()
                continuation.resume()
            }
        }
        #expect(places.withLock { $0 }.allSatisfy { $0 })
        #expect(places.withLock { $0 }.count >= 4)
    }

    @Test func aBucketWithoutNameTakesReferencesToAny() throws {
        let storage = TestStorage(bucket: "").storage
        #expect(storage.reference(forURL: "gs://one/x").bucket == "one")
        #expect(storage.reference(forURL: "gs://two/x").bucket == "two")
    }

    // MARK: What ends the program

    @Test func anAppWithoutABucketEndsTheProgram() async {
        await #expect(processExitsWith: .failure) { _ = Storage.storage(app: testApp(bucket: nil)) }
    }

    @Test func aProgramWithoutAnAppEnds() async {
        await #expect(processExitsWith: .failure) { _ = Storage.storage() }
    }

    @Test func aBucketThatIsNoneEndsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            _ = Storage.storage(app: testApp(bucket: "b"), url: "https://b")
        }
        await #expect(processExitsWith: .failure) {
            _ = Storage.storage(app: testApp(bucket: "b"), url: "gs://b/path")
        }
    }

    @Test func aBadAddressEndsTheProgram() async {
        await #expect(processExitsWith: .failure) { _ = TestStorage().storage.reference(forURL: "gs://") }
        await #expect(processExitsWith: .failure) { _ = TestStorage().storage.reference(forURL: "gs://other/x") }
    }

    @Test func observingNothingEndsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            TestStorage().reference("x").putData(Data()).observe(.unknown) { _ in }
        }
    }

    @Test func anEmulatorThatIsNoneEndsTheProgram() async {
        await #expect(processExitsWith: .failure) { TestStorage().storage.useEmulator(withHost: "", port: 1) }
        await #expect(processExitsWith: .failure) { TestStorage().storage.useEmulator(withHost: "h", port: -1) }
        await #expect(processExitsWith: .failure) {
            let storage = TestStorage().storage
            _ = storage.reference()
            storage.useEmulator(withHost: "h", port: 1)
        }
    }
}
