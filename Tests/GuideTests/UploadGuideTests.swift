import CloudStorage
import Foundation
import TestSupport
import Testing

/// The guide to uploading does what it says, against a server of its own.
struct UploadGuideTests {
    private let server: GuideServer
    private let storage: Storage
    private let folder = temporaryDirectory()
    private var root: StorageReference { storage.reference() }

    init() throws {
        server = try GuideServer()
        storage = server.storage()
    }

    private func imageFile() throws -> URL {
        let file = URL(fileURLWithPath: "\(folder.path)/image.jpg")
        try imageBytes.write(to: file)
        return file
    }

    @Test func referencesPointWhereTheGuideSays() {
        let references = makeReferences(storage)
        #expect(references.map(\.fullPath) == ["", "mountains.jpg", "images/mountains.jpg"])
        #expect(references[1].name == references[2].name)
        #expect(references[1].fullPath != references[2].fullPath)
    }

    @Test func dataInMemoryIsUploaded() async throws {
        let snapshot = await end(of: putData(root))
        #expect(snapshot.error == nil)
        #expect(try await root.child("images/rivers.jpg").getMetadata().size == 0)
    }

    @Test func aLocalFileIsUploaded() async {
        await #expect(processExitsWith: .success) {
            try await inFolderOfImage { server in
                let root = server.storage().reference()
                let snapshot = await end(of: putFile(root))
                precondition(snapshot.error == nil, "\(snapshot)")
                let stored = try await root.child("images/rivers.jpg").data(maxSize: 1 << 20)
                precondition(stored == imageBytes)
            }
        }
    }

    @Test func metadataGoesWithTheBytes() async throws {
        putWithMetadata(root, imageBytes, try imageFile())
        let mountains = root.child("images/mountains.jpg")
        await eventually { (try? await mountains.getMetadata()) != nil }
        #expect(try await mountains.getMetadata().contentType == "image/jpeg")
        #expect(try await mountains.data(maxSize: 1 << 20) == imageBytes)
    }

    @Test func anUploadIsPausedResumedAndCancelled() async throws {
        let task = manage(root.child("managed"), uploading: try imageFile())
        #expect(task.snapshot.status == .failure)
        #expect((task.snapshot.error as? NSError)?.code == StorageErrorCode.cancelled.rawValue)
        let error = await #expect(throws: StorageError.self) { try await root.child("managed").getMetadata() }
        #expect(error?.code == .objectNotFound)
    }

    @Test func observersComeAndGo() async throws {
        let task = root.child("monitored").putFile(from: try imageFile())
        #expect(!monitor(task).isEmpty)
        stopMonitoring(task)
        #expect(await end(of: task).error == nil)
    }

    @Test func theFullExampleUploads() async {
        await #expect(processExitsWith: .success) {
            try await inFolderOfImage { server in
                let mountains = server.storage().reference().child("images/mountains.jpg")
                let snapshot = await end(of: uploadCompletely(mountains))
                precondition(snapshot.error == nil, "\(snapshot)")
                precondition(snapshot.metadata?.contentType == "image/jpeg")
                let stored = try await mountains.data(maxSize: 1 << 20)
                precondition(stored == imageBytes)
            }
        }
    }

    /// The guide's own handler meets a code for each of these.
    @Test func theFullExampleTellsFailures() async {
        await #expect(processExitsWith: .success) {
            try await inFolderOfImage { server in
                let root = server.storage().reference()
                let refused = await end(of: uploadCompletely(root))
                precondition((refused.error as? NSError)?.code == StorageErrorCode.invalidArgument.rawValue)
                try FileManager.default.removeItem(atPath: "path/to/image")
                let missing = await end(of: uploadCompletely(root.child("x")))
                precondition((missing.error as? NSError)?.code == StorageErrorCode.unknown.rawValue)
            }
        }
    }
}
