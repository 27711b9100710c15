import Foundation
import Locking
import TestSupport
import Testing

@testable import CloudStorage

/// Transfers that are paused, and whose connections break, on a real server that counts bytes.
struct InterruptedTransferTests {
    private static let size: Int64 = 100_000_000
    private static let chunk: Int64 = 8 << 20

    private let bucket: LocalBucket
    private let folder = temporaryDirectory()
    private let content: Data
    private var file: URL { URL(fileURLWithPath: "\(folder.path)/file") }
    private var reference: StorageReference { bucket.reference("big") }

    init() throws {
        bucket = try LocalBucket()
        bucket.storage.uploadChunkSizeBytes = Self.chunk
        let random = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
        content = try #require(try random.read(upToCount: Int(Self.size)))
        #expect(Int64(content.count) == Self.size)
    }

    /// Pauses `task` once, when it is far enough, and waits until it has.
    private func pauseInTheMiddle(_ task: some StorageObservableTask & StorageTaskManagement, _ events: Events) async {
        let isDone = Lock(false)
        // A task that an observer of its own holds would never be let go.
        task.observe(.progress) { [weak task] snapshot in
            guard (snapshot.progress?.completedUnitCount ?? 0) > Self.size * 2 / 5 else { return }
            let isFirst = isDone.withLock { isDone in
                defer { isDone = true }
                return !isDone
            }
            if isFirst { task?.pause() }
        }
        await eventually { events.statuses.contains(.pause) || task.hasEnded }
    }

    @Test func noByteOfAnUploadTravelsTwiceBeyondOneChunk() async throws {
        try content.write(to: file)
        let task = reference.putFile(from: file)
        let events = Events(of: task)
        await pauseInTheMiddle(task, events)
        #expect(!task.hasEnded)
        try await bucket.fail("firebase.uploads.query", "return-reset-connection")
        task.resume()
        let snapshot = await task.ended()
        #expect(snapshot.error == nil)
        #expect(snapshot.metadata?.size == Self.size)
        let requests = try await bucket.requests()
        // All but the request that the pause dropped, which carried a chunk at most: what it brought came once.
        #expect(requests.bytesReceived < Self.size + 100_000, "\(requests)")
        // None, where the pause fell between two chunks: then it is known how far the server is. Else the one that
        // broke and the next.
        let queries = requests.counts["firebase.uploads.query"] ?? 0
        #expect(queries == 0 || queries >= 2, "\(requests)")
        #expect(requests.counts["firebase.uploads.start"] == 1)
        #expect((try await reference.data(maxSize: Self.size) == content) as Bool)
        #expect(events.statuses.filter { $0 != .progress }.suffix(3) == [.pause, .resume, .success])
        let counts = events.snapshots.compactMap(\.progress?.completedUnitCount)
        #expect((counts == counts.sorted()) as Bool)
    }

    @Test func noByteOfADownloadTravelsTwiceBeyondOneChunk() async throws {
        _ = try await reference.putDataAsync(content)
        try Data("old".utf8).write(to: file)
        try await bucket.forgetRequests()
        let task = reference.write(toFile: file)
        let events = Events(of: task)
        await pauseInTheMiddle(task, events)
        #expect(!task.hasEnded)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        let there = try #require(task.snapshot.progress?.completedUnitCount)
        try await bucket.fail("firebase.objects.media", "return-reset-connection")
        task.resume()
        let snapshot = await task.ended()
        #expect(snapshot.error == nil)
        #expect((try Data(contentsOf: file) == content) as Bool)
        let requests = try await bucket.requests()
        // The server hands bytes to the connection that never arrive: what was asked for is what counts.
        let ranges = requests.log.filter { $0.operation == "firebase.objects.media" }.map(\.range)
        #expect(there > 0)
        #expect(ranges == [nil, "bytes=\(there)-", "bytes=\(there)-"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
        #expect(events.statuses.filter { $0 != .progress }.suffix(3) == [.pause, .resume, .success])
    }

    @Test func aCancelledUploadEndsItsSession() async throws {
        try content.write(to: file)
        let task = reference.putFile(from: file)
        let events = Events(of: task)
        await pauseInTheMiddle(task, events)
        task.cancel()
        let snapshot = await task.ended()
        #expect((snapshot.error as? StorageError)?.code == .cancelled)
        while try await bucket.requests().counts["firebase.uploads.cancel"] == nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        let error = await #expect(throws: StorageError.self) { try await reference.getMetadata() }
        #expect(error?.code == .objectNotFound)
    }

    /// Nobody can resume it any more.
    @Test func aPausedUploadThatIsDroppedEndsItsSession() async throws {
        try content.write(to: file)
        do {
            let task = reference.putFile(from: file)
            let events = Events(of: task)
            await pauseInTheMiddle(task, events)
            await task.settled()
            events.forget()
        }
        while try await bucket.requests().counts["firebase.uploads.cancel"] == nil {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func aFileThatChangesWhileItIsUploadedIsNotStored() async throws {
        try content.write(to: file)
        let task = reference.putFile(from: file)
        let events = Events(of: task)
        await pauseInTheMiddle(task, events)
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: UInt64(Self.size) - 10)
        try handle.write(contentsOf: Data("changed".utf8))
        try handle.close()
        task.resume()
        let snapshot = await task.ended()
        #expect((snapshot.error as? StorageError)?.code == .unknown)
        let error = await #expect(throws: StorageError.self) { try await reference.getMetadata() }
        #expect(error?.code == .objectNotFound)
    }
}
