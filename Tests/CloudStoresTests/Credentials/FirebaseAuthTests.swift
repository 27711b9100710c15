import FoundationEssentials
import Glibc
import HTTPTransport
import ObjectStore
import TestSupport
import Testing

@testable import CloudStores

@Suite struct FirebaseAuthTests {
    private let clock = TestClock()
    private let folder = temporaryDirectory()

    /// An unsigned ID token.
    private static func idToken(_ number: Int = 0, uid: String = "u1") -> String {
        let claims =
            #"{"user_id":"\#(uid)","aud":"demo-p","email":"a@example.com","n":\#(number),"#
            + #""firebase":{"sign_in_provider":"password"}}"#
        let text = Base64.encode(Array(claims.utf8)).filter { $0 != "=" }
        return "e30." + String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }) + "."
    }

    private static func signedIn(_ token: String = idToken()) -> TokenEndpoint.Answer {
        .json(
            200,
            #"{"localId":"u1","email":"a@example.com","idToken":"\#(token)","refreshToken":"r1","expiresIn":"3600"}"#)
    }

    private static func renewed(_ number: Int, lifetime: Int = 3_600, refreshToken: String = "r1")
        -> TokenEndpoint.Answer
    {
        .json(
            200,
            #"{"id_token":"\#(idToken(number))","refresh_token":"\#(refreshToken)","expires_in":"\#(lifetime)"}"#)
    }

    private static func refusal(_ code: String, _ status: Int = 400) -> TokenEndpoint.Answer {
        .json(status, #"{"error":{"code":\#(status),"message":"\#(code)","errors":[]}}"#)
    }

    private func auth(_ endpoint: TokenEndpoint, emulator: String? = "127.0.0.1:9099") throws -> FirebaseAuth {
        try FirebaseAuth(
            apiKey: "k&1", emulator: emulator.map { try ServiceEndpoint(parsing: $0) }, TokenService(endpoint, clock))
    }

    private static let identity = FirebaseIdentity(
        apiKey: "k", emulator: nil, projectID: "demo-p", uid: "u1", email: nil, provider: "password",
        refreshToken: "r1")

    private func credential(
        _ endpoint: TokenEndpoint, keptIn file: FirebaseIdentityFile? = nil
    ) throws -> FirebaseUserCredential {
        try FirebaseUserCredential(
            Self.identity, keptIn: file, emulator: nil, TokenService(endpoint, clock), token: nil)
    }

    // MARK: Signing in

    @Test func passwordsSignIn() async throws {
        let endpoint = TokenEndpoint([Self.signedIn()])
        let signIn = try await auth(endpoint).signIn(email: "a@example.com", password: "p\"w")
        #expect(
            endpoint.requests[0].url
                == "http://127.0.0.1:9099/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=k%261")
        #expect(
            endpoint.requests[0].text
                == #"{"email":"a@example.com","password":"p\"w","returnSecureToken":true}"#)
        #expect(signIn.identity.uid == "u1")
        #expect(signIn.identity.projectID == "demo-p")
        #expect(signIn.identity.emulator == "http://127.0.0.1:9099")
        #expect(signIn.identity.refreshToken == "r1")
    }

    @Test func withoutAnEmulatorGoogleIsAsked() async throws {
        let endpoint = TokenEndpoint([Self.signedIn()])
        _ = try await auth(endpoint, emulator: nil).signInAnonymously()
        #expect(
            endpoint.requests[0].url == "https://identitytoolkit.googleapis.com/v1/accounts:signUp?key=k%261")
        #expect(endpoint.requests[0].text == #"{"returnSecureToken":true}"#)
    }

    @Test func aCustomTokensUserIsInTheIDToken() async throws {
        let answer = #"{"idToken":"\#(Self.idToken(uid: "u7"))","refreshToken":"r1","expiresIn":"3600"}"#
        let endpoint = TokenEndpoint([.json(200, answer)])
        let signIn = try await auth(endpoint).signIn(customToken: "c.t.")
        #expect(endpoint.requests[0].text == #"{"token":"c.t.","returnSecureToken":true}"#)
        #expect(signIn.identity.uid == "u7")
    }

    @Test(
        arguments: [
            ("INVALID_LOGIN_CREDENTIALS", "the e-mail address or the password is wrong"),
            ("EMAIL_NOT_FOUND", "the e-mail address or the password is wrong"),
            ("USER_DISABLED", "the account is disabled"), ("ADMIN_ONLY_OPERATION", "turned off in the project"),
            ("TOO_MANY_ATTEMPTS_TRY_LATER : later", "too many attempts"),
            ("API key not valid. Please pass a valid API key.", "the API key is not good"),
        ])
    func refusalsAreToldInWords(code: String, words: String) async throws {
        let endpoint = TokenEndpoint([Self.refusal(code)])
        let error = await failure(of: try await auth(endpoint).signInAnonymously())
        #expect(error?.kind == .unauthenticated)
        #expect(error?.message.contains(words) == true)
        #expect(error?.message.contains(code.prefix(10)) == true)
        #expect(endpoint.requests.count == 1)
    }

    @Test func aSecondFactorIsNotSupported() async throws {
        let endpoint = TokenEndpoint([.json(200, #"{"mfaPendingCredential":"x","mfaInfo":[]}"#)])
        let error = await failure(of: try await auth(endpoint).signIn(email: "a", password: "b"))
        #expect(error?.message.contains("second factor") == true)
    }

    @Test func passwordsDoNotTravelInTheClear() {
        #expect(throws: CredentialError.self) { try auth(TokenEndpoint([]), emulator: "http://10.0.0.1:9099") }
    }

    // MARK: Renewing

    @Test func tokensAreRenewedFiveMinutesBeforeTheyEnd() async throws {
        let endpoint = TokenEndpoint { _, number in Self.renewed(number) }
        let credential = try credential(endpoint)
        #expect(try await credential.authorization(replacing: nil).value == "Firebase " + Self.idToken(0))
        #expect(endpoint.requests[0].url == "https://securetoken.googleapis.com/v1/token?key=k")
        #expect(endpoint.requests[0].text == #"{"grant_type":"refresh_token","refresh_token":"r1"}"#)
        clock.advance(by: .seconds(3_299))
        #expect(credential.cachedAuthorization() != nil)
        clock.advance(by: .seconds(2))
        #expect(credential.cachedAuthorization() == nil)
        #expect(try await credential.authorization(replacing: nil).value == "Firebase " + Self.idToken(1))
    }

    @Test func aShortLifeIsUsedByHalf() async throws {
        let credential = try credential(TokenEndpoint([Self.renewed(0, lifetime: 30)]))
        _ = try await credential.authorization(replacing: nil)
        clock.advance(by: .seconds(14))
        #expect(credential.cachedAuthorization() != nil)
        clock.advance(by: .seconds(2))
        #expect(credential.cachedAuthorization() == nil)
    }

    @Test func whoeverWaitsSharesOneRenewal() async throws {
        let endpoint = TokenEndpoint { _, number in Self.renewed(number) }
        endpoint.hold()
        let credential = try credential(endpoint)
        let values = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { try? await credential.authorization(replacing: nil).value } }
            group.addTask {
                while endpoint.requests.isEmpty { await Task.yield() }
                endpoint.release()
                return nil
            }
            return await group.reduce(into: Set<String>()) { if let value = $1 { $0.insert(value) } }
        }
        #expect(values.count == 1)
        #expect(endpoint.requests.count == 1)
    }

    @Test(arguments: ["TOKEN_EXPIRED", "USER_NOT_FOUND", "INVALID_REFRESH_TOKEN"])
    func anEndedSignInSaysHowToGoOn(code: String) async throws {
        let error = await failure(
            of: try await credential(TokenEndpoint([Self.refusal(code)])).authorization(replacing: nil))
        #expect(error?.kind == .unauthenticated)
        #expect(error?.message.contains("sign in again with firemount login") == true)
    }

    // MARK: Keeping

    private func file() -> FirebaseIdentityFile { FirebaseIdentityFile(folder.path + "/identity.json") }

    @Test func theIdentityIsForItsOwnerAlone() throws {
        let file = file()
        #expect(try file.read() == nil)
        try file.write(Self.identity)
        try file.write(Self.identity)
        #expect(try file.read() == Self.identity)
        var status = stat()
        #expect(unsafe stat(file.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try file.remove())
        #expect(try !file.remove())
    }

    @Test func aNewRefreshTokenIsKept() async throws {
        let file = file()
        try file.write(Self.identity)
        let endpoint = TokenEndpoint { _, number in Self.renewed(number, refreshToken: "r\(number + 2)") }
        let credential = try credential(endpoint, keptIn: file)
        let first = try await credential.authorization(replacing: nil)
        #expect(try file.read()?.refreshToken == "r2")
        _ = try await credential.authorization(replacing: first)
        #expect(endpoint.requests[1].text.contains(#""refresh_token":"r2""#))
    }

    @Test func anotherUserWhoSignedInMeanwhileStays() async throws {
        let file = file()
        var other = Self.identity
        other.uid = "u2"
        try file.write(other)
        let credential = try credential(TokenEndpoint([Self.renewed(0, refreshToken: "r2")]), keptIn: file)
        _ = try await credential.authorization(replacing: nil)
        #expect(try file.read() == other)
    }

    @Test func aNewSignInOfTheSameUserIsTakenUp() async throws {
        let file = file()
        var newer = Self.identity
        newer.refreshToken = "r9"
        try file.write(newer)
        let endpoint = TokenEndpoint([Self.refusal("TOKEN_EXPIRED"), Self.renewed(1, refreshToken: "r9")])
        let credential = try credential(endpoint, keptIn: file)
        #expect(try await credential.authorization(replacing: nil).value == "Firebase " + Self.idToken(1))
        #expect(endpoint.requests[1].text.contains("r9"))
    }

    @Test func aDamagedFileSaysWhatToDo() throws {
        let file = file()
        try Data("{}".utf8).write(to: URL(filePath: file.path))
        #expect(throws: CredentialError.self) { try file.read() }
    }
}
