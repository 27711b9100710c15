import Testing

@testable import firemount

struct LoginRequestTests {
    @Test func eachWayIsUnderstood() throws {
        #expect(try LoginRequest(parsing: ["--email", "a@b", "--api-key", "k"]).email?.text == "a@b")
        #expect(try LoginRequest(parsing: ["--anonymous"]).isAnonymous)
        let request = try LoginRequest(parsing: ["--custom-token-file=/t", "--project", "p"])
        #expect(request.customTokenFile?.text == "/t")
        #expect(request.project?.text == "p")
    }

    @Test(
        arguments: [
            ([], "say how to sign in"), (["--email", "a@b", "--anonymous"], "exclude each other"),
            (["--email", "a@b", "secret"], "the password is asked for"), (["--email", ""], "is no value for --email"),
        ])
    func mistakesAreNamed(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try LoginRequest(parsing: words) }
        #expect(error?.message.contains(message) == true)
    }
}
