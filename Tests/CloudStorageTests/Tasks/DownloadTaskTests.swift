import Foundation
import Locking
import ObjectStore
import TestSupport
import Testing

@testable import CloudStorage

struct DownloadTaskTests {
    private let store = InMemoryStore(pieceSize: 1_000)
    private let test: TestStorage
    private let folder = temporaryDirectory()
    private let content: [UInt8]
    private var reference: StorageReference { test.reference("island") }
    private var file: URL { URL(fileURLWithPath: "\(folder.path)/island.jpg") }
    private var fileBytes: [UInt8]? { (try? Data(contentsOf: file)).map { Array($0) } }
    private var fileNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    init() {
        test = TestStorage(store)
        var random = SplitMix64(seed: 11)
        content = random.bytes(100_000)
        store.put("island", content)
    }

    /// Starts a download, and does `action` once 20,000 bytes have come, before more do.
    private func download(
        _ start: () -> StorageDownloadTask, _ action: @escaping @Sendable (StorageDownloadTask) -> Void
    ) async -> StorageDownloadTask {
        store.hold(.read)
        let task = start()
        store.watchReads { [store] end in
            guard end == 20_000 else { return }
            store.watchReads(nil)
            action(task)
        }
        await store.waitUntilHeld(.read)
        store.release(.read)
        return task
    }

    // MARK: Into memory

    @Test func dataComesWhole() async throws {
        let data = try await reference.data(maxSize: 100_000)
        #expect((Array(data) == content) as Bool)
    }

    @Test func bothCompletionFormsAreCalled() async throws {
        store.put("small", Array("abc".utf8))
        let viaTwo = await withCheckedContinuation { continuation in
            test.reference("small").getData(maxSize: 10) { data, error in
                #expect(error == nil)
                continuation.resume(returning: data)
            }
        }
        let viaResult = await withCheckedContinuation { continuation in
            test.reference("small").getData(maxSize: 10) { (result: Result<Data, any Error>) in
                continuation.resume(returning: try? result.get())
            }
        }
        #expect(viaTwo == Data("abc".utf8))
        #expect(viaResult == Data("abc".utf8))
    }

    @Test func anEmptyObjectIsEmptyData() async throws {
        store.put("empty")
        #expect(try await test.reference("empty").data(maxSize: 0).isEmpty)
    }

    @Test func moreThanWantedEndsAtTheAnnouncement() async throws {
        let task = reference.getData(maxSize: 99_999) { _, _ in }
        let events = Events(of: task)
        let snapshot = await task.ended()
        guard case .downloadSizeExceeded(100_000, 99_999)? = snapshot.error as? CloudStorage::StorageError else {
            Issue.record("\(String(describing: snapshot.error))")
            return
        }
        #expect(events.snapshots.allSatisfy { $0.progress?.completedUnitCount == 0 })
    }

    @Test func aMissingObjectIsNotFound() async throws {
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await test.reference("nowhere").data(maxSize: 1)
        }
        #expect(error?.code == .objectNotFound)
    }

    @Test func damagedBytesAreNotHandedOut() async throws {
        let damaging = DamagingStore(store)
        damaging.damages(1)
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await TestStorage(damaging).reference("island").data(maxSize: 100_000)
        }
        #expect(error?.code == .nonMatchingChecksum)
    }

    // MARK: Into a file

    @Test func aFileIsWrittenWithItsDirectories() async throws {
        let deep = URL(fileURLWithPath: "\(folder.path)/a/b/c")
        let answer = try await reference.writeAsync(toFile: deep)
        #expect(answer == deep)
        #expect((try Array(Data(contentsOf: deep)) == content) as Bool)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/a/b") == ["c"])
    }

    @Test func theOldContentStaysUntilTheNewIsWhole() async throws {
        try Data("old".utf8).write(to: file)
        let task = await download {
            reference.write(toFile: file)
        } _: {
            $0.pause()
        }
        await task.reached { $0.isPaused }
        #expect(fileBytes == Array("old".utf8))
        task.resume()
        await task.ended()
        #expect((fileBytes == content) as Bool)
        #expect(fileNames == ["island.jpg"])
    }

    @Test func aFailedDownloadLeavesTheOldContentAndNothingElse() async throws {
        try Data("old".utf8).write(to: file)
        let failing = FailingStore(store)
        failing.fail(.read, .afterBytes(5_000), with: .serverFailed)
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await TestStorage(failing).reference("island").writeAsync(toFile: file)
        }
        #expect(error?.code == .retryLimitExceeded)
        #expect(fileBytes == Array("old".utf8))
        #expect(fileNames == ["island.jpg"])
    }

    @Test func aCancelledDownloadLeavesNothing() async throws {
        let task = await download {
            reference.write(toFile: file)
        } _: {
            $0.cancel()
        }
        let snapshot = await task.ended()
        #expect((snapshot.error as? CloudStorage::StorageError)?.code == .cancelled)
        await eventually { fileNames.isEmpty }
    }

    @Test func aPlaceThatCannotBeWrittenIsToldAsThatSystemError() async throws {
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await reference.writeAsync(toFile: file)
        }
        #expect(error?.code == .unknown)
        #expect(error?.localizedDescription.hasPrefix("POSIX errno 21 (") == true)
        #expect(fileNames == ["island.jpg"])
    }

    @Test func aPlaceOnAnotherMachineIsRefused() async throws {
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await reference.writeAsync(toFile: #require(URL(string: "https://example.com/x")))
        }
        #expect(error?.code == .invalidArgument)
        #expect(store.requestCount == 0)
    }

    // MARK: Pausing

    @Test func aPausedDownloadGoesOnWhereItWas() async throws {
        let events = Events()
        let task = await download {
            // Observed before it begins, so that nothing of it can be missed.
            let task = events.observe(StorageDownloadTask(reference, to: .file(file)))
            task.enqueue()
            return task
        } _: {
            $0.pause()
        }
        await eventually { events.statuses.contains(.pause) }
        #expect(task.snapshot.progress?.completedUnitCount == 20_000)
        task.resume()
        await task.ended()
        #expect((fileBytes == content) as Bool)
        #expect(store.reads.map(\.offset) == [0, 20_000])
        #expect(store.reads.last?.objectGeneration == store.object(ObjectName("island"))?.objectGeneration)
        #expect(events.statuses.filter { $0 != .progress } == [.resume, .pause, .resume, .success])
        let counts = events.snapshots.compactMap(\.progress).map(\.completedUnitCount)
        #expect(counts == counts.sorted())
    }

    @Test func resumingAtOnceGoesOnAsWell() async throws {
        let task = await download {
            reference.getData(maxSize: 100_000) { _, _ in }
        } _: { task in
            for _ in 0..<10 {
                task.pause()
                task.resume()
            }
        }
        let snapshot = await task.ended()
        #expect(snapshot.status == .success)
    }

    @Test func anObjectReplacedDuringThePauseIsFetchedFromItsStart() async throws {
        let task = await download {
            reference.write(toFile: file)
        } _: {
            $0.pause()
        }
        await task.reached { $0.isPaused }
        store.put("island", Array("another".utf8))
        task.resume()
        await task.ended()
        #expect(fileBytes == Array("another".utf8))
    }

    @Test func anObjectReplacedAgainAndAgainIsGivenUp() async throws {
        let failing = FailingStore(store)
        failing.fail(.read, call: nil, .afterBytes(1_000), with: .generationChanged)
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await TestStorage(failing).reference("island").data(maxSize: 100_000)
        }
        #expect(error?.code == .unknown)
        #expect(failing.counts[.read] == 5)
    }

    @Test func aDownloadPausedAtOnceGoesOnWhenResumed() async throws {
        store.hold(.read)
        let task = reference.getData(maxSize: 100_000) { _, _ in }
        task.pause()
        await task.reached { $0.isPaused }
        store.release(.read)
        task.resume()
        let snapshot = await task.ended()
        #expect(snapshot.status == .success)
    }

    @Test func cancellingTheCallingTaskCancelsTheDownload() async throws {
        store.hold(.read)
        let download = Task { try await reference.data(maxSize: 100_000) }
        await store.waitUntilHeld(.read)
        download.cancel()
        let error = await #expect(throws: CloudStorage::StorageError.self) { try await download.value }
        #expect(error?.code == .cancelled)
        store.release(.read)
    }

    @Test func theRootCannotBeDownloaded() async throws {
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await test.storage.reference().data(maxSize: 1)
        }
        #expect(error?.code == .invalidArgument)
        #expect(store.requestCount == 0)
    }

    @Test func aDownloadHasNoMetadata() async throws {
        let task = reference.write(toFile: file)
        let snapshot = await task.ended()
        #expect(snapshot.metadata == nil)
        #expect(snapshot.progress?.totalUnitCount == 100_000)
    }
}

extension StorageTaskSnapshot {
    fileprivate var isPaused: Bool { status == .pause }
}
