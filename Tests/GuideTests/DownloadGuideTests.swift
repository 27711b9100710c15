import CloudStorage
import Foundation
import TestSupport
import Testing

/// The guide to downloading does what it says, against a server of its own.
struct DownloadGuideTests {
    private let server: GuideServer
    private let storage: Storage
    private let folder = temporaryDirectory()
    private var root: StorageReference { storage.reference() }

    init() async throws {
        server = try GuideServer()
        storage = server.storage()
    }

    private func put(_ name: String) async throws {
        _ = try await root.child(name).putDataAsync(imageBytes)
    }

    /// Any bucket, as the guide's addresses have placeholders for theirs.
    @Test func referencesAreMadeFromAddresses() {
        let references = makeReferencesFromAddresses(server.storage(bucket: ""))
        #expect(references.map(\.bucket) == ["", "<your-firebase-storage-bucket>", "bucket"])
        #expect(references.map(\.fullPath) == ["images/stars.jpg", "images/stars.jpg", "images stars.jpg"])
    }

    @Test func anImageIsShownFromMemory() async throws {
        try await put("images/island.jpg")
        getData(root)
        await eventually { UIImage.shown.contains(imageBytes) }
    }

    @Test func aFileIsWritten() async {
        await #expect(processExitsWith: .success) {
            try await inFolderOfImage { server in
                try FileManager.default.removeItem(atPath: "path")
                let root = server.storage().reference()
                _ = try await root.child("images/island.jpg").putDataAsync(imageBytes)
                let snapshot = await end(of: writeToFile(root))
                precondition(snapshot.error == nil, "\(snapshot)")
                let written = try Data(contentsOf: URL(fileURLWithPath: "path/to/image"))
                precondition(written == imageBytes)
            }
        }
    }

    @Test func aDownloadURLWorksWithoutSigningIn() async throws {
        try await put("images/stars.jpg")
        makeDownloadURL(root)
        let url = try await root.child("images/stars.jpg").downloadURL()
        #expect(url.absoluteString.hasPrefix("http://127.0.0.1:\(server.port)/v0/b/\(GuideServer.bucket)/o/"))
        let file = URL(fileURLWithPath: "\(folder.path)/stars.jpg")
        let curl = try Program(
            ["curl", "--silent", "--fail", "--output", file.path, url.absoluteString],
            environment: ProcessInfo.processInfo.environment, outputFile: "\(folder.path)/curl.log")
        #expect(try await curl.wait().status == 0)
        #expect(try Data(contentsOf: file) == imageBytes)
        #expect(storage.reference(forURL: url.absoluteString) == root.child("images/stars.jpg"))
    }

    @Test func aDownloadIsPausedResumedAndCancelled() async throws {
        try await put("images/mountains.jpg")
        let file = URL(fileURLWithPath: "\(folder.path)/image")
        let task = manage(root, downloadingTo: file)
        #expect((task.snapshot.error as? NSError)?.code == StorageErrorCode.cancelled.rawValue)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func observersComeAndGo() async throws {
        try await put("monitored")
        let task = root.child("monitored").write(toFile: URL(fileURLWithPath: "\(folder.path)/monitored"))
        #expect(!monitor(task).isEmpty)
        stopMonitoring(task)
        #expect(await end(of: task).error == nil)
    }

    @Test func theFullExampleDownloads() async throws {
        try await put("images/stars.jpg")
        let file = URL(fileURLWithPath: "\(folder.path)/stars.jpg")
        let snapshot = await end(of: downloadCompletely(root.child("images/stars.jpg"), to: file))
        #expect(snapshot.error == nil)
        #expect(try Data(contentsOf: file) == imageBytes)
    }

    @Test func theFullExampleTellsAMissingObject() async throws {
        let file = URL(fileURLWithPath: "\(folder.path)/none")
        let snapshot = await end(of: downloadCompletely(root.child("images/stars.jpg"), to: file))
        #expect((snapshot.error as? NSError)?.code == StorageErrorCode.objectNotFound.rawValue)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
