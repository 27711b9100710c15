import Foundation
import TestSupport
import Testing

@testable import CloudStorage

/// Every call against the package's own server, over the wire.
struct ServerTests {
    private let bucket: LocalBucket

    init() throws {
        bucket = try LocalBucket()
        bucket.storage.maxOperationRetryTime = 1
    }

    @Test func anObjectLivesItsLife() async throws {
        let reference = bucket.reference("images/a b/ä?#%.jpg")
        let metadata = StorageMetadata()
        metadata.contentType = "image/jpeg"
        metadata.customMetadata = ["owner": "alice"]
        let stored = try await reference.putDataAsync(Data("hello".utf8), metadata: metadata)
        #expect(stored.path == "images/a b/ä?#%.jpg")
        #expect(stored.metageneration == 1)

        let read = try await reference.getMetadata()
        #expect(read.customMetadata == ["owner": "alice"])
        #expect(read.contentEncoding == "identity")
        #expect(read.size == 5)
        read.contentLanguage = "de"
        read.customMetadata = nil
        let updated = try await reference.updateMetadata(read)
        #expect(updated.contentLanguage == "de")
        #expect(updated.contentType == "image/jpeg")
        #expect(updated.customMetadata == nil)

        #expect(try await reference.data(maxSize: 5) == Data("hello".utf8))
        let url = try await reference.downloadURL()
        #expect(bucket.storage.reference(forURL: url.absoluteString) == reference)
        #expect(url.query?.contains("token=") == true)

        try await reference.delete()
        let error = await #expect(throws: StorageError.self) { try await reference.getMetadata() }
        #expect(error?.code == .objectNotFound)
    }

    @Test func spellingsOfOneNameAreTwoObjects() async throws {
        for name in ["e\u{301}", "\u{E9}"] {
            _ = try await bucket.reference("n/\(name)").putDataAsync(Data(name.utf8))
        }
        let all = try await bucket.reference("n").listAll()
        #expect(all.items.map { Array($0.name.utf8) } == [Array("e\u{301}".utf8), Array("\u{E9}".utf8)])
        for item in all.items {
            #expect(try await item.data(maxSize: 9) == Data(item.name.utf8))
        }
    }

    @Test func aFolderIsListedInPages() async throws {
        for name in ["f/a", "f/b", "f/c/d", "g"] { _ = try await bucket.reference(name).putDataAsync(Data()) }
        let folder = bucket.reference("f")
        let first = try await folder.list(maxResults: 2)
        #expect(first.items.map(\.fullPath) == ["f/a", "f/b"])
        let second = try await folder.list(maxResults: 2, pageToken: #require(first.pageToken))
        #expect(second.prefixes.map(\.fullPath) == ["f/c"])
        #expect(second.pageToken == nil)
        let root = try await bucket.storage.reference().listAll()
        #expect(root.items.map(\.fullPath) == ["g"] && root.prefixes.map(\.fullPath) == ["f"])
    }

    private static let failures: [(String, StorageErrorCode, String)] = [
        ("return-400", .unknown, "Unknown 400 error from backend"),
        ("return-401", .unauthenticated, "User is not authenticated"),
        ("return-402", .quotaExceeded, "Quota for bucket"),
        ("return-403", .unauthorized, "User does not have permission to access gs://demo.appspot.com/x."),
        ("return-404", .objectNotFound, "Object x does not exist."),
        ("return-409", .unknown, "Unexpected 409 code from backend"), ("return-429", .retryLimitExceeded, "Max retry"),
        ("return-500", .retryLimitExceeded, "Max retry"), ("return-503", .retryLimitExceeded, "Max retry"),
        ("return-reset-connection", .retryLimitExceeded, "Max retry"),
        ("truncate-body-10B", .unknown, "Invalid data returned from the server: "),
    ]

    @Test(arguments: failures)
    func everyAnswerHasItsError(instruction: String, code: StorageErrorCode, text: String) async throws {
        let reference = bucket.reference("x")
        _ = try await reference.putDataAsync(Data("x".utf8))
        try await bucket.fail("firebase.objects.get", instruction, times: 1_000)
        let error = await #expect(throws: StorageError.self) { try await reference.getMetadata() }
        #expect(error?.code == code)
        #expect(error?.localizedDescription.hasPrefix(text) == true, "\(error?.localizedDescription ?? "")")
    }

    @Test func aFailureThatPassesIsNotTold() async throws {
        bucket.storage.maxOperationRetryTime = 60
        let reference = bucket.reference("x")
        _ = try await reference.putDataAsync(Data("x".utf8))
        try await bucket.fail("firebase.objects.get", "return-503", times: 1)
        #expect(try await reference.getMetadata().size == 1)
    }

    @Test func damageOnTheWayIsNotHandedOut() async throws {
        bucket.storage.maxDownloadRetryTime = 1
        let reference = bucket.reference("x")
        _ = try await reference.putDataAsync(Data(repeating: 7, count: 1 << 20))
        try await bucket.fail("firebase.objects.media", "corrupt-body", times: 1_000)
        let error = await #expect(throws: StorageError.self) { try await reference.data(maxSize: 1 << 20) }
        #expect(error?.code == .nonMatchingChecksum)
    }
}

/// Who may do what.
struct SignedInTests {
    private static let rules = """
        rules_version = '2';
        service firebase.storage {
          match /b/{bucket}/o {
            match /users/{uid}/{name=**} { allow read, write: if request.auth != null && request.auth.uid == uid; }
          }
        }
        """

    private let bucket: LocalBucket
    private var auth: Auth { Auth.auth(app: bucket.app) }

    init() throws { bucket = try LocalBucket(rules: Self.rules) }

    private func code(_ call: () async throws -> Void) async -> StorageErrorCode? {
        do {
            try await call()
            return nil
        } catch { return (error as? StorageError)?.code }
    }

    @Test func rulesKnowWhoIsSignedIn() async throws {
        let data = Data("mine".utf8)
        #expect(await code { _ = try await bucket.reference("users/x/a").putDataAsync(data) } == .unauthorized)
        let user = try await auth.createUser(withEmail: "a@example.com", password: "secret12").user
        #expect(auth.currentUser?.uid == user.uid)
        #expect(user.email == "a@example.com" && !user.isAnonymous)
        let own = bucket.reference("users/\(user.uid)/a")
        _ = try await own.putDataAsync(data)
        #expect(try await own.data(maxSize: 10) == data)
        #expect(await code { _ = try await bucket.reference("users/other/a").getMetadata() } == .unauthorized)
        try auth.signOut()
        #expect(auth.currentUser == nil)
        #expect(await code { _ = try await own.getMetadata() } == .unauthorized)
        #expect(try await auth.signIn(withEmail: "a@example.com", password: "secret12").user.uid == user.uid)
        #expect(try await own.getMetadata().size == 4)
    }

    @Test func aUserWithoutANameSignsIn() async throws {
        let user = try await auth.signInAnonymously().user
        #expect(user.isAnonymous)
        let token = try await user.getIDToken()
        #expect(token.split(separator: ".", omittingEmptySubsequences: false).count == 3)
        _ = try await bucket.reference("users/\(user.uid)/a").putDataAsync(Data())
    }

    @Test func aWrongPasswordIsRefused() async throws {
        _ = try await auth.createUser(withEmail: "b@example.com", password: "secret12")
        try auth.signOut()
        let error = await #expect(throws: AuthError.self) {
            try await auth.signIn(withEmail: "b@example.com", password: "wrong-one")
        }
        #expect(error?.kind == .refused)
        #expect(auth.currentUser == nil)
    }

    @Test func completionFormsAnswer() async throws {
        let uid = await withCheckedContinuation { continuation in
            auth.signInAnonymously { result, _ in continuation.resume(returning: result?.user.uid) }
        }
        #expect(uid != nil && uid == auth.currentUser?.uid)
    }
}
