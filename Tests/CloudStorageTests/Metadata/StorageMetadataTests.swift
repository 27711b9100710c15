import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CloudStorage

struct StorageMetadataTests {
    private let object = ObjectMetadata(
        name: ObjectName("a/b.txt"), objectGeneration: ObjectGeneration(12), metageneration: Metageneration(3),
        size: 5, timeCreated: Timestamp(seconds: 1_767_225_600, nanoseconds: 123_000_000),
        updated: Timestamp(seconds: 1_767_225_601), md5: Array(repeating: 0, count: 16),
        headers: ObjectHeaders(
            contentType: "text/plain", cacheControl: "no-cache",
            custom: ["k": "v", "firebaseStorageDownloadTokens": "secret"]))

    @Test func newMetadataIsEmpty() {
        let metadata = StorageMetadata()
        #expect(metadata.bucket == "")
        #expect(metadata.name == nil && metadata.path == nil && metadata.md5Hash == nil)
        #expect(metadata.generation == 0 && metadata.metageneration == 0 && metadata.size == 0)
        #expect(metadata.timeCreated == nil && metadata.updated == nil && metadata.customMetadata == nil)
        #expect(!metadata.isFile && !metadata.isFolder)
        #expect(metadata.dictionaryRepresentation() == ["bucket": ""])
    }

    @Test func whatTheServiceSaysIsShown() {
        let metadata = StorageMetadata(object, bucket: "b")
        #expect(metadata.bucket == "b")
        #expect(metadata.path == "a/b.txt")
        #expect(metadata.name == "b.txt")
        #expect(metadata.md5Hash == "AAAAAAAAAAAAAAAAAAAAAA==")
        #expect(metadata.generation == 12 && metadata.metageneration == 3 && metadata.size == 5)
        #expect(metadata.timeCreated == Date(timeIntervalSince1970: 1_767_225_600.123))
        #expect(metadata.contentEncoding == "identity")
        #expect(metadata.isFile)
    }

    @Test func downloadTokensAreNoCustomMetadata() {
        #expect(StorageMetadata(object, bucket: "b").customMetadata == ["k": "v"])
    }

    @Test func theDictionaryHasTheServicesKeys() {
        let dictionary = StorageMetadata(object, bucket: "b").dictionaryRepresentation()
        #expect(
            dictionary == [
                "bucket": "b", "name": "a/b.txt", "md5Hash": "AAAAAAAAAAAAAAAAAAAAAA==", "contentType": "text/plain",
                "cacheControl": "no-cache", "contentEncoding": "identity", "generation": Int64(12),
                "metageneration": Int64(3), "size": Int64(5), "timeCreated": "2026-01-01T00:00:00.123Z",
                "updated": "2026-01-01T00:00:01.000Z", "metadata": ["k": "v"],
            ])
    }

    @Test(arguments: ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000000Z", "2026-01-01T01:00:00.0+01:00"])
    func datesAreReadInEverySpelling(text: String) {
        let metadata = StorageMetadata(dictionary: ["updated": text])
        #expect(metadata.updated == Date(timeIntervalSince1970: 1_767_225_600))
    }

    @Test func numbersAreReadInEverySpelling() {
        let spellings: [AnyHashable] = ["17", 17, Int64(17), NSNumber(value: 17)]
        for spelling in spellings {
            #expect(StorageMetadata(dictionary: ["size": spelling]).size == 17, "\(spelling)")
        }
    }

    @Test func aDictionaryMakesTheSameMetadataAgain() {
        let metadata = StorageMetadata(object, bucket: "b")
        let again = StorageMetadata(dictionary: metadata.dictionaryRepresentation())
        #expect(again.dictionaryRepresentation() == metadata.dictionaryRepresentation())
    }

    @Test func copiesAreEqualAndApart() {
        let metadata = StorageMetadata(object, bucket: "b")
        let copy = metadata.copy()
        #expect(copy == metadata)
        #expect(copy.hash == metadata.hash)
        copy.contentType = "x/y"
        #expect(!copy.isEqual(metadata))
        #expect(metadata.contentType == "text/plain")
    }

    @Test func valuesAreComparedAsBytes() {
        let (composed, decomposed) = (StorageMetadata(), StorageMetadata())
        composed.customMetadata = ["k": "\u{E9}"]
        decomposed.customMetadata = ["k": "e\u{301}"]
        #expect(composed != decomposed)
    }

    // MARK: The difference that an update sends

    @Test func nothingChangedIsNothingToSend() {
        #expect(StorageMetadata(object, bucket: "b").patch.isEmpty)
        #expect(StorageMetadata(object, bucket: "b").copy().patch.isEmpty)
        #expect(StorageMetadata().patch.isEmpty)
    }

    @Test func onlyWhatWasChangedIsSent() {
        let metadata = StorageMetadata(object, bucket: "b")
        metadata.contentType = nil
        metadata.contentLanguage = "de"
        metadata.cacheControl = "no-cache"
        metadata.customMetadata = ["new": "1"]
        var expected = MetadataPatch(custom: ["k": .remove, "new": .set("1")])
        expected.contentType = .remove
        expected.contentLanguage = .set("de")
        #expect(metadata.patch == expected)
    }

    @Test func freshMetadataChangesWhatIsSetInIt() {
        let metadata = StorageMetadata()
        metadata.cacheControl = "private"
        var expected = MetadataPatch()
        expected.cacheControl = .set("private")
        #expect(metadata.patch == expected)
    }

    @Test func anotherSpellingIsAChange() {
        let metadata = StorageMetadata(dictionary: ["metadata": ["k": "\u{E9}"], "contentLanguage": "\u{E9}"])
        metadata.customMetadata = ["k": "e\u{301}"]
        metadata.contentLanguage = "e\u{301}"
        #expect(metadata.patch.custom == ["k": .set("e\u{301}")])
        #expect(metadata.patch.contentLanguage != nil)
    }
}

/// Metadata calls on references.
struct MetadataCallTests {
    private let store = InMemoryStore()
    private let test: TestStorage
    private let name = ObjectName("images/forest.jpg")
    private var reference: StorageReference { test.reference("images/forest.jpg") }

    init() {
        test = TestStorage(store)
        store.put(
            name, Array("x".utf8),
            headers: ObjectHeaders(
                contentType: "image/png", contentLanguage: "en",
                custom: ["owner": "alice", CustomMetadata.downloadTokens: "t1,t2"]))
    }

    @Test func metadataIsReadChangedAndReadAgain() async throws {
        let metadata = try await reference.getMetadata()
        metadata.contentType = "image/jpeg"
        metadata.contentLanguage = nil
        metadata.customMetadata?["owner"] = nil
        metadata.customMetadata?["album"] = "x"
        let updated = try await reference.updateMetadata(metadata)
        #expect(updated.contentType == "image/jpeg")
        #expect(updated.metageneration == 2)
        let headers = try #require(store.object(name)?.headers)
        #expect(headers.contentLanguage == nil)
        #expect(headers.custom == ["album": "x", CustomMetadata.downloadTokens: "t1,t2"])
    }

    @Test func anUpdateFromFreshMetadataLeavesTheRest() async throws {
        let metadata = StorageMetadata()
        metadata.cacheControl = "public,max-age=300"
        _ = try await reference.updateMetadata(metadata)
        let headers = try #require(store.object(name)?.headers)
        #expect(headers.cacheControl == "public,max-age=300")
        #expect(headers.contentType == "image/png")
        #expect(headers.custom["owner"] == "alice")
    }

    @Test func anObjectIsDeleted() async throws {
        try await reference.delete()
        #expect(store.names.isEmpty)
        let error = await #expect(throws: CloudStorage::StorageError.self) { try await reference.delete() }
        #expect(error?.code == .objectNotFound)
    }

    @Test func completionFormsAnswer() async throws {
        let got = await withCheckedContinuation { continuation in
            reference.getMetadata { metadata, error in continuation.resume(returning: (metadata, error != nil)) }
        }
        #expect(got.0?.contentType == "image/png" && !got.1)
        let viaResult = await withCheckedContinuation { continuation in
            reference.getMetadata { (result: Result<StorageMetadata, any Error>) in
                continuation.resume(returning: try? result.get())
            }
        }
        #expect(viaResult == got.0)
        let change = StorageMetadata()
        change.contentType = "a/b"
        let updated = await withCheckedContinuation { continuation in
            reference.updateMetadata(change) { metadata, _ in continuation.resume(returning: metadata) }
        }
        #expect(updated?.contentType == "a/b")
        let failure = await withCheckedContinuation { continuation in
            test.reference("none").delete { error in continuation.resume(returning: (error as? NSError)?.code) }
        }
        #expect(failure == StorageErrorCode.objectNotFound.rawValue)
    }

    @Test func theRootIsNoObject() async throws {
        let root = test.storage.reference()
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await root.getMetadata() }, { _ = try await root.updateMetadata(StorageMetadata()) },
            { try await root.delete() }, { _ = try await root.downloadURL() },
        ]
        for call in calls {
            let error = await #expect(throws: CloudStorage::StorageError.self) { try await call() }
            #expect(error?.code == .invalidArgument)
        }
        #expect(store.requestCount == 0)
    }

    @Test func cancellingTheCallingTaskEndsACall() async throws {
        store.hold(.metadata)
        let call = Task { try await reference.getMetadata() }
        await store.waitUntilHeld(.metadata)
        call.cancel()
        let error = await #expect(throws: CloudStorage::StorageError.self) { try await call.value }
        #expect(error?.code == .cancelled)
        store.release(.metadata)
    }

    @Test func theDownloadURLHasTheFirstToken() async throws {
        let url = try await reference.downloadURL()
        #expect(
            url.absoluteString.hasSuffix("/v0/b/\(TestStorage.bucket)/o/images%2Fforest.jpg?alt=media&token=t1"))
    }

    @Test func withoutATokenThereIsNoDownloadURL() async throws {
        store.put("bare")
        let error = await #expect(throws: CloudStorage::StorageError.self) {
            try await test.reference("bare").downloadURL()
        }
        #expect(error?.code == .unknown)
        #expect(error?.localizedDescription == "Failed to retrieve a download URL.")
    }
}
