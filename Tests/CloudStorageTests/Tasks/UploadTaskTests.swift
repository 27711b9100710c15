import Foundation
import Locking
import ObjectStore
import TestSupport
import Testing

@testable import CloudStorage

struct UploadTaskTests {
    private let store = InMemoryStore()
    private let test: TestStorage
    private let name = ObjectName("images/rivers.jpg")
    private var reference: StorageReference { test.reference("images/rivers.jpg") }

    init() { test = TestStorage(store) }

    @Test func dataIsStoredAndItsMetadataComesBack() async throws {
        let metadata = StorageMetadata()
        metadata.cacheControl = "no-cache"
        metadata.customMetadata = ["k": "v"]
        let stored = try await reference.putDataAsync(Data("hello".utf8), metadata: metadata)
        #expect(store.bytes(of: name) == Array("hello".utf8))
        #expect(stored.size == 5)
        #expect(stored.path == "images/rivers.jpg")
        #expect(stored.name == "rivers.jpg")
        #expect(stored.bucket == TestStorage.bucket)
        #expect(stored.contentType == "application/octet-stream")
        #expect(stored.cacheControl == "no-cache")
        #expect(stored.customMetadata == ["k": "v"])
        #expect(stored.isFile)
    }

    @Test func theCallersMetadataStaysAsItIs() async throws {
        let metadata = StorageMetadata()
        _ = try await reference.putDataAsync(Data(), metadata: metadata)
        #expect(metadata == StorageMetadata())
    }

    @Test func aSliceOfDataIsStoredAsItself() async throws {
        let data = Data("0123456789".utf8)
        _ = try await reference.putDataAsync(data[3..<7])
        #expect(store.bytes(of: name) == Array("3456".utf8))
    }

    @Test func bothCompletionFormsAreCalledOnce() async throws {
        let calls = Lock(0)
        await withCheckedContinuation { continuation in
            reference.putData(Data("a".utf8), metadata: nil) { metadata, error in
                #expect(metadata?.size == 1)
                #expect(error == nil)
                calls.withLock { $0 += 1 }
                continuation.resume()
            }
        }
        let task = reference.putData(Data("ab".utf8)) { (result: Result<StorageMetadata, any Error>) in
            #expect((try? result.get())?.size == 2)
            calls.withLock { $0 += 1 }
        }
        await task.ended()
        #expect(calls.withLock { $0 } == 2)
    }

    @Test func anUploadToTheRootIsRefused() async throws {
        let task = test.storage.reference().putData(Data("x".utf8))
        let snapshot = await task.ended()
        #expect((snapshot.error as? CloudStorage::StorageError)?.code == .invalidArgument)
        #expect(store.requestCount == 0)
    }

    /// An upload that is observed before it begins, so that nothing of it can be missed.
    private func begin(_ data: Data, to reference: StorageReference) -> (StorageUploadTask, Events) {
        let task = StorageUploadTask(.memory(data), to: reference, metadata: nil)
        let events = Events(of: task)
        task.enqueue()
        return (task, events)
    }

    @Test func aFailureIsTold() async throws {
        let failing = FailingStore(store)
        failing.fail(.insert, with: .forbidden)
        let (task, events) = begin(Data("x".utf8), to: TestStorage(failing).reference("x"))
        let snapshot = await task.ended()
        #expect((snapshot.error as? NSError)?.code == StorageErrorCode.unauthorized.rawValue)
        #expect(snapshot.status == .failure)
        #expect(events.statuses == [.resume, .progress, .failure])
    }

    @Test func observersAreToldInOrder() async throws {
        store.hold(.insert)
        let (task, events) = begin(Data(repeating: 7, count: 100_000), to: reference)
        await store.waitUntilHeld(.insert)
        store.release(.insert)
        await task.ended()
        #expect(events.statuses == [.resume, .progress, .success])
        let counts = events.snapshots.compactMap(\.progress).map(\.completedUnitCount)
        #expect(counts == counts.sorted())
        #expect(counts.last == 100_000)
        #expect(events.snapshots.last?.progress?.totalUnitCount == 100_000)
        #expect(events.snapshots.last?.metadata?.objectGenerationIsSet == true)
        #expect(events.snapshots.allSatisfy { $0.task === task && $0.reference == reference })
    }

    @Test func aPausedUploadGoesOnWhenItIsResumed() async throws {
        store.hold(.insert)
        let (task, events) = begin(Data("hello".utf8), to: reference)
        await store.waitUntilHeld(.insert)
        task.pause()
        #expect(task.snapshot.status == .pause)
        await eventually { store.heldCount(.insert) == 0 }
        store.release(.insert)
        await task.settled()
        #expect(store.bytes(of: name) == nil)
        task.resume()
        await task.ended()
        #expect(store.bytes(of: name) == Array("hello".utf8))
        #expect(events.statuses.filter { $0 != .progress } == [.resume, .pause, .resume, .success])
    }

    @Test func anUploadPausedAtOnceHasAskedForNothing() async throws {
        let task = reference.putData(Data("hello".utf8))
        task.pause()
        await task.settled()
        #expect(task.snapshot.status == .pause)
        task.resume()
        await task.ended()
        #expect(store.counts[.insert] == 1)
    }

    @Test func aCancelledUploadFailsOnceAndStoresNothing() async throws {
        store.hold(.insert)
        let outcome = Lock<[String]>([])
        let task = reference.putData(Data("hello".utf8), metadata: nil) { metadata, error in
            outcome.withLock { $0.append("\(metadata?.size ?? -1) \((error as? NSError)?.code ?? 0)") }
        }
        let events = Events(of: task)
        await store.waitUntilHeld(.insert)
        task.cancel()
        task.cancel()
        task.resume()
        await task.ended()
        store.release(.insert)
        await task.settled()
        #expect(outcome.withLock { $0 } == ["-1 \(StorageErrorCode.cancelled.rawValue)"])
        #expect(events.statuses.last == .failure)
        #expect(events.statuses.filter { $0 == .failure }.count == 1)
        #expect(store.bytes(of: name) == nil)
    }

    @Test func cancellingTheCallingTaskCancelsTheUpload() async throws {
        store.hold(.insert)
        let upload = Task { try await reference.putDataAsync(Data("hello".utf8)) }
        await store.waitUntilHeld(.insert)
        upload.cancel()
        let error = await #expect(throws: CloudStorage::StorageError.self) { try await upload.value }
        #expect(error?.code == .cancelled)
        store.release(.insert)
        #expect(store.bytes(of: name) == nil)
    }

    @Test func progressReachesTheAsyncForm() async throws {
        let last = Lock<Double>(0)
        _ = try await reference.putDataAsync(Data(repeating: 1, count: 10)) { progress in
            last.withLock { $0 = progress?.fractionCompleted ?? -1 }
        }
        #expect(last.withLock { $0 } == 1)
    }
}

/// Files as sources.
struct FileUploadTests {
    private let store = InMemoryStore()
    private let folder = temporaryDirectory()
    private let test: TestStorage

    init() { test = TestStorage(store) }

    private func file(_ name: String, _ text: String = "hello") throws -> URL {
        let url = URL(fileURLWithPath: folder.path).appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url
    }

    @Test(arguments: [
        ("a.txt", "text/plain"), ("a.png", "image/png"), ("a.gif", "image/gif"), ("a.mp3", "audio/mpeg"),
        ("a.mov", "video/quicktime"), ("a.PNG", "image/png"), ("a", "application/octet-stream"),
        ("a.unheardof", "application/octet-stream"),
    ])
    func theExtensionOfTheFileTellsTheType(file: String, type: String) async throws {
        let stored = try await test.reference("object.jpg").putFileAsync(from: self.file(file))
        #expect(stored.contentType == type)
    }

    @Test func aTypeThatIsSaidWins() async throws {
        let metadata = StorageMetadata()
        metadata.contentType = "x/y"
        let stored = try await test.reference("o").putFileAsync(from: file("a.txt"), metadata: metadata)
        #expect(stored.contentType == "x/y")
    }

    @Test func namesOfFilesAreBytes() async throws {
        for name in ["e\u{301}.txt", "\u{E9}.txt", "a b%20?#.txt"] {
            let url = try file(name, name)
            let stored = try await test.reference("o").putFileAsync(from: url)
            #expect(stored.size == Int64(name.utf8.count), "\(name)")
        }
    }

    @Test func whatIsNoRegularFileIsNotReachable() async throws {
        let target = try file("target")
        let link = URL(fileURLWithPath: folder.path).appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        let urls = [
            URL(fileURLWithPath: "\(folder.path)/missing"), URL(fileURLWithPath: folder.path), link,
            URL(fileURLWithPath: "/dev/null"), URL(string: "https://example.com/a.txt")!,
        ]
        for url in urls {
            let error = await #expect(throws: CloudStorage::StorageError.self) {
                try await test.reference("o").putFileAsync(from: url)
            }
            #expect(error?.code == .unknown)
            #expect(
                error?.localizedDescription
                    == "File at URL: \(url.absoluteString) is not reachable. Ensure file URL is not a directory, "
                    + "symbolic link, or invalid url.")
        }
        #expect(store.requestCount == 0)
    }

    @Test func aURLWithoutASchemeIsAPath() async throws {
        let url = try #require(URL(string: try file("plain.txt").path))
        #expect(url.scheme == nil)
        let stored = try await test.reference("o").putFileAsync(from: url)
        #expect(stored.size == 5)
    }

    @Test func anEmptyFileIsStored() async throws {
        let stored = try await test.reference("o").putFileAsync(from: file("empty", ""))
        #expect(stored.size == 0)
    }
}

extension StorageMetadata {
    fileprivate var objectGenerationIsSet: Bool { generation != 0 }
}
