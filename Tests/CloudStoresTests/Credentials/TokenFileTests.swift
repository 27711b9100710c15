import Foundation
import ObjectStore
import Testing

@testable import CloudStores

@Suite struct TokenFileTests {
    private let files = CredentialFixture()
    private let clock = TestClock()

    private func tokenFile(_ text: String) throws -> TokenFile {
        TokenFileTests.touch(try files.write("token", text), 1_700_000_000)
        return try TokenFile(files.path + "/token", clock: clock.clock)
    }

    private static func touch(_ path: String, _ seconds: Double) {
        try? FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: path)
    }

    @Test(arguments: [
        "tok", "  tok\n", "\u{FEFF}tok\r\n".replacing("\u{FEFF}", with: ""), #" {"access_token":"tok"} "#,
    ])
    func bareTokenAndJSONAreRead(text: String) throws {
        #expect(try tokenFile(text).cachedAuthorization() == Authorization(value: "Bearer tok"))
    }

    @Test(arguments: ["", " \n", "two words", "a\nb", "{", "{}", #"{"access_token":""}"#, #"{"access_token":"a b"}"#])
    func fileWithoutATokenIsRefused(text: String) {
        let error = #expect(throws: CredentialError.self) { try tokenFile(text) }
        #expect(error?.message.contains("/token: holds no access token") == true)
    }

    @Test func missingFileIsNamed() {
        let path = files.path + "/none"
        let error = #expect(throws: CredentialError.self) { try TokenFile(path, clock: clock.clock) }
        #expect(error?.message == "\(path): no such file; check the path")
    }

    @Test func changedFileIsReadAgain() async throws {
        let file = try tokenFile("one")
        _ = try files.write("token", "two")
        clock.advance(by: .seconds(2))
        #expect(file.cachedAuthorization() == nil)
        #expect(try await file.authorization(replacing: nil).value == "Bearer two")
        #expect(file.cachedAuthorization()?.value == "Bearer two")
    }

    @Test func rejectedTokenIsReadAgainAtOnce() async throws {
        let file = try tokenFile("one")
        let first = try #require(file.cachedAuthorization())
        _ = try files.write("token", "two")
        #expect(try await file.authorization(replacing: first).value == "Bearer two")
    }

    @Test func rejectedTokenIsNotHandedOutAgain() async throws {
        let file = try tokenFile("one")
        let first = try #require(file.cachedAuthorization())
        let error = await #expect(throws: StorageError.self) { try await file.authorization(replacing: first) }
        #expect(error?.kind == .unauthenticated)
        #expect(file.cachedAuthorization() == nil)
    }

    @Test func fileThatIsGoneOrHalfWrittenKeepsTheOldToken() async throws {
        let file = try tokenFile("one")
        for broken in ["", nil] {
            if let broken {
                _ = try files.write("token", broken)
            } else {
                try FileManager.default.removeItem(atPath: files.path + "/token")
            }
            #expect(try await file.authorization(replacing: nil).value == "Bearer one")
        }
    }

    /// `expires_in` counts from the file's last change, which is the clock's start here.
    @Test(arguments: [
        #""expires_in":100"#, #""expires_in":"100""#, #""expiry":"2023-11-14T22:15:00Z""#, #""expiry":1700000100"#,
    ])
    func expiredTokenIsRefused(field: String) async throws {
        let file = try tokenFile(#"{"access_token":"tok",\#(field)}"#)
        clock.advance(by: .seconds(99))
        #expect(file.cachedAuthorization() != nil)
        clock.advance(by: .seconds(1))
        #expect(file.cachedAuthorization() == nil)
        let error = await #expect(throws: StorageError.self) { try await file.authorization(replacing: nil) }
        #expect(error?.kind == .unauthenticated)
    }
}
