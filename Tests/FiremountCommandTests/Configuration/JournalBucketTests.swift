import BucketFileSystem
import CloudStores
import Testing

@testable import firemount

/// How `firemount recover` reaches the bucket of a journal.
struct JournalBucketTests {
    @Test(arguments: ["http://127.0.0.1:9000", "http://localhost:1", "http://[::1]:1"])
    func anEmulatorOfThisMachineNeedsNoOption(endpoint: String) throws {
        let configuration = try configuration(endpoint)
        #expect(configuration.endpoint.root == endpoint)
        #expect(configuration.credentials == .anonymous)
        #expect(configuration.storageProtocol == .gcs)
    }

    @Test func theEnvironmentsEmulatorNeedsNoneEither() throws {
        let variables = ["STORAGE_EMULATOR_HOST": "emulator.test:9000"]
        #expect(try configuration("http://emulator.test:9000", variables: variables).credentials == .anonymous)
        #expect(try configuration("http://other.test:9000", variables: variables).credentials == .applicationDefault)
    }

    @Test func googleIsReachedWithCredentials() throws {
        #expect(try configuration("https://storage.googleapis.com").credentials == .applicationDefault)
        #expect(try configuration("https://127.0.0.1:9000").credentials == .applicationDefault)
    }

    @Test func firebaseIsReachedAsItsUser() throws {
        let user = try configuration("https://firebasestorage.googleapis.com")
        #expect(user.storageProtocol == .firebase)
        guard case .firebaseUser = user.credentials else { throw UsageError("\(user.credentials)") }
        let anonymous = try configuration("https://firebasestorage.googleapis.com", "--anonymous")
        #expect(anonymous.credentials == .anonymous)
        #expect(anonymous.storageProtocol == .firebase)
    }

    @Test func optionsCountMoreThanTheJournal() throws {
        let other = try configuration("http://127.0.0.1:9000", "--endpoint", "http://127.0.0.1:1", "--token-file", "t")
        #expect(other.endpoint.root == "http://127.0.0.1:1")
        #expect(other.credentials == .tokenFile("/here/t", .bearer))
        #expect(try configuration("http://127.0.0.1:9000", "--key-file", "/k").credentials == .keyFile("/k"))
    }

    private func configuration(
        _ endpoint: String, _ words: String..., variables: [String: String] = [:]
    ) throws -> MountConfiguration {
        let environment = ProcessEnvironment(
            variables: ["HOME": "/h"].merging(variables) { $1 }, userID: 1_000, groupID: 100, workingDirectory: "/here")
        let owner = JournalOwner(bucket: "bucket", endpoint: endpoint)
        return try JournalBucket(owner, try RecoverRequest(parsing: words).mount, environment).configuration
    }
}
