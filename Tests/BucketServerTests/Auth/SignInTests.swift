import TestSupport
import Testing

struct SignInTests {
    private let server: TestServer

    init() throws { server = try TestServer { $0.project = "demo-p" } }

    @Test func aUserSignsUpAndIn() throws {
        let up = try #require(
            server.auth("signUp", #"{"email":"A@Example.com","password":"secret12","returnSecureToken":true}"#).signIn)
        #expect(up.kind == "identitytoolkit#SignupNewUserResponse")
        #expect(up.email == "a@example.com")
        #expect(up.expiresIn == "3600")
        let json = #"{"email":"a@EXAMPLE.com","password":"secret12","returnSecureToken":true}"#
        let signedIn = try #require(server.auth("signInWithPassword", json).signIn)
        #expect(signedIn.localId == up.localId)
        #expect(signedIn.registered == true)
        let claims = try #require(TokenClaims(signedIn.idToken))
        #expect(claims.iss == "https://securetoken.google.com/demo-p")
        #expect(claims.aud == "demo-p")
        #expect(claims.sub == up.localId)
        #expect(claims.userId == up.localId)
        #expect(claims.exp == claims.iat + 3600)
        #expect(claims.email == "a@example.com")
        #expect(claims.emailVerified == false)
        #expect(claims.firebase.signInProvider == "password")
        #expect(claims.firebase.identities == ["email": ["a@example.com"]])
        #expect(claims.providerId == nil)
    }

    @Test func anAnonymousUserHasAnIdOnly() throws {
        let first = try #require(server.auth("signUp", #"{"returnSecureToken":true}"#).signIn)
        let second = try #require(server.auth("signUp", "{}").signIn)
        #expect(first.localId != second.localId)
        let claims = try #require(TokenClaims(first.idToken))
        #expect(claims.providerId == "anonymous")
        #expect(claims.firebase.signInProvider == "anonymous")
        #expect(claims.email == nil)
    }

    @Test func anAnonymousUserMayGetAnAddressLater() throws {
        let anonymous = try #require(server.auth("signUp", "{}").signIn)
        let json = #"{"idToken":"\#(anonymous.idToken ?? "")","email":"b@example.com","password":"secret12"}"#
        let linked = try #require(server.auth("signUp", json).signIn)
        #expect(linked.localId == anonymous.localId)
        #expect(TokenClaims(linked.idToken)?.firebase.signInProvider == "password")
    }

    private static let audience =
        "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

    @Test func aCustomTokenSignsIn() throws {
        // {"alg":"none"} . {"aud":…,"uid":"u1","claims":{"admin":true}} .
        let payload = #"{"aud":"\#(Self.audience)","uid":"u1","claims":{"admin":true}}"#
        let token = "eyJhbGciOiJub25lIn0.\(base64URL(payload))."
        let signedIn = try #require(server.auth("signInWithCustomToken", #"{"token":"\#(token)"}"#).signIn)
        #expect(signedIn.isNewUser == true)
        #expect(signedIn.localId == nil)
        let claims = try #require(TokenClaims(signedIn.idToken))
        #expect(claims.userId == "u1")
        #expect(claims.admin == true)
        #expect(claims.firebase.signInProvider == "custom")
        let bare = #"{"token":"{\"uid\":\"u1\"}"}"#
        #expect(server.auth("signInWithCustomToken", bare).signIn?.isNewUser == false)
    }

    @Test func aRefreshMakesANewToken() throws {
        let signedIn = try #require(
            server.auth("signInWithCustomToken", #"{"token":"{\"uid\":\"u1\",\"claims\":{\"admin\":true}}"}"#).signIn)
        let token = signedIn.refreshToken ?? ""
        let form = try #require(server.refresh("grant_type=refresh_token&refresh_token=\(escaped(token))").signIn)
        #expect(form.idToken == form.accessToken)
        #expect(form.expiresIn == "3600")
        #expect(form.tokenType == "Bearer")
        #expect(form.userId == "u1")
        #expect(form.projectId?.allSatisfy(\.isNumber) == true)
        let claims = try #require(TokenClaims(form.idToken))
        #expect(claims.admin == true)
        #expect(claims.firebase.signInProvider == "custom")
        let json = #"{"grantType":"refresh_token","refreshToken":"\#(form.refreshToken ?? "")"}"#
        let again = server.call("POST", "/securetoken.googleapis.com/v1/token?key=k", json: json)
        #expect(again.signIn?.userId == "u1")
    }

    @Test(arguments: ["signupNewUser", "verifyPassword", "verifyCustomToken", "getAccountInfo"])
    func theOldAddressesAreServedToo(call: String) {
        let target = "/www.googleapis.com/identitytoolkit/v3/relyingparty/\(call)?key=any"
        #expect([200, 400].contains(server.call("POST", target, json: "{}").status))
        #expect(
            server.call("POST", "/www.googleapis.com/identitytoolkit/v3/relyingparty/none?key=k", json: "{}").status
                == 404)
    }

    // MARK: Failures

    struct FailureCase: Sendable {
        let call: String
        let json: String
        let message: String
        var status = 400
        var key = "?key=any"
    }

    @Test(arguments: [
        FailureCase(
            call: "signUp", json: "{}", message: "The request is missing a valid API key.", status: 403, key: ""),
        FailureCase(call: "signUp", json: #"{"email":"x@y.z"}"#, message: "MISSING_PASSWORD"),
        FailureCase(call: "signUp", json: #"{"password":"secret12"}"#, message: "MISSING_EMAIL"),
        FailureCase(call: "signUp", json: #"{"email":"","password":""}"#, message: "MISSING_EMAIL"),
        FailureCase(call: "signUp", json: #"{"email":"x","password":"secret12"}"#, message: "INVALID_EMAIL"),
        FailureCase(call: "signUp", json: #"{"email":"A@b.c","password":"secret12"}"#, message: "EMAIL_EXISTS"),
        FailureCase(
            call: "signUp", json: #"{"email":"x@y.z","password":"short"}"#,
            message: "WEAK_PASSWORD : Password should be at least 6 characters"),
        FailureCase(call: "signUp", json: #"{"localId":"mine"}"#, message: "UNEXPECTED_PARAMETER : User ID"),
        FailureCase(call: "signInWithPassword", json: "{}", message: "MISSING_EMAIL"),
        FailureCase(call: "signInWithPassword", json: #"{"email":"x"}"#, message: "INVALID_EMAIL"),
        FailureCase(call: "signInWithPassword", json: #"{"email":"a@b.c"}"#, message: "MISSING_PASSWORD"),
        FailureCase(call: "signInWithPassword", json: #"{"email":"n@b.c","password":"x"}"#, message: "EMAIL_NOT_FOUND"),
        FailureCase(
            call: "signInWithPassword", json: #"{"email":"a@b.c","password":"x"}"#, message: "INVALID_PASSWORD"),
        FailureCase(call: "signInWithCustomToken", json: "{}", message: "MISSING_CUSTOM_TOKEN"),
        FailureCase(
            call: "signInWithCustomToken", json: #"{"token":"{\"claims\":{}}"}"#, message: "MISSING_IDENTIFIER"),
        FailureCase(
            call: "signInWithCustomToken", json: #"{"token":"{\"uid\":\"u\",\"claims\":{\"sub\":1}}"}"#,
            message: "FORBIDDEN_CLAIM : sub"),
        FailureCase(
            call: "signInWithCustomToken", json: #"{"token":"nonsense"}"#,
            message: "INVALID_CUSTOM_TOKEN : Invalid assertion format"),
        FailureCase(
            call: "signInWithCustomToken", json: #"{"token":"{nonsense"}"#,
            message: "INVALID_CUSTOM_TOKEN : ((The token begins as JSON but is none.))"),
        FailureCase(
            call: "signInWithCustomToken", json: #"{"token":"e30.eyJhdWQiOiJ4In0."}"#,
            message: "INVALID_CUSTOM_TOKEN : ((Invalid aud (audience): x))"),
        FailureCase(call: "lookup", json: "{}", message: "MISSING_ID_TOKEN"),
        FailureCase(call: "lookup", json: #"{"idToken":"x"}"#, message: "INVALID_ID_TOKEN"),
    ])
    func failuresAreCodes(wanted: FailureCase) {
        _ = server.signedUp("a@b.c")
        let answer = server.auth(wanted.call, wanted.json, key: wanted.key)
        #expect(answer.status == wanted.status)
        #expect(answer.failure?.message == wanted.message)
        #expect(answer.failure?.code == wanted.status)
    }

    struct RefreshCase: Sendable {
        let form: String
        let message: String
    }

    @Test(arguments: [
        RefreshCase(form: "", message: "MISSING_GRANT_TYPE"),
        RefreshCase(form: "grant_type=password", message: "INVALID_GRANT_TYPE"),
        RefreshCase(form: "grant_type=refresh_token", message: "MISSING_REFRESH_TOKEN"),
        RefreshCase(form: "grant_type=refresh_token&refresh_token=x", message: "INVALID_REFRESH_TOKEN"),
        RefreshCase(form: "grant_type=refresh_token&refresh_token=e30%3D", message: "INVALID_REFRESH_TOKEN"),
    ])
    func badRefreshesAreCodes(wanted: RefreshCase) {
        let answer = server.refresh(wanted.form)
        #expect(answer.status == 400)
        #expect(answer.failure?.message == wanted.message)
    }

    @Test func disabledAndDeletedUsersAreTurnedAway() throws {
        let user = server.signedUp()
        let refreshForm = "grant_type=refresh_token&refresh_token=\(escaped(user.refreshToken ?? ""))"
        let signIn = #"{"email":"a@example.com","password":"secret12"}"#
        let disable = #"{"localId":"\#(user.localId ?? "")","disableUser":true}"#
        #expect(server.auth("update", disable).status == 400)
        #expect(server.auth("update", disable, [TestServer.owner]).status == 200)
        #expect(server.auth("signInWithPassword", signIn).failure?.message == "USER_DISABLED")
        #expect(server.refresh(refreshForm).failure?.message == "USER_DISABLED")
        #expect(server.call("DELETE", "/emulator/v1/projects/any/accounts").status == 200)
        #expect(server.auth("signInWithPassword", signIn).failure?.message == "EMAIL_NOT_FOUND")
        #expect(server.refresh(refreshForm).failure?.message == "USER_NOT_FOUND")
    }

    @Test func tokensFromBeforeARevocationAreExpired() throws {
        let user = server.signedUp()
        let revoke = #"{"localId":"\#(user.localId ?? "")","validSince":"4000000000"}"#
        #expect(server.auth("update", revoke, [TestServer.owner]).status == 200)
        let form = "grant_type=refresh_token&refresh_token=\(escaped(user.refreshToken ?? ""))"
        #expect(server.refresh(form).failure?.message == "TOKEN_EXPIRED")
        #expect(server.auth("lookup", #"{"idToken":"\#(user.idToken ?? "")"}"#).failure?.message == "TOKEN_EXPIRED")
    }

    @Test func addressesCanBeProtected() {
        let json = #"{"emailPrivacyConfig":{"enableImprovedEmailPrivacy":true}}"#
        #expect(server.call("PATCH", "/emulator/v1/projects/any/config", json: json).status == 200)
        let signIn = #"{"email":"none@example.com","password":"secret12"}"#
        #expect(server.auth("signInWithPassword", signIn).failure?.message == "INVALID_LOGIN_CREDENTIALS")
    }

    // MARK: Accounts

    @Test func aUserLooksHimselfUp() throws {
        let user = server.signedUp()
        let found = server.auth("lookup", #"{"idToken":"\#(user.idToken ?? "")"}"#).signIn?.users
        #expect(found?.map(\.localId) == [user.localId ?? ""])
        #expect(found?.first?.email == "a@example.com")
        let byOwner = server.auth(
            "lookup", #"{"email":["a@example.com","none@example.com"]}"#, key: "", [TestServer.owner])
        #expect(byOwner.signIn?.users?.map(\.localId) == [user.localId ?? ""])
    }

    @Test func theAdministratorMakesUsersOfAnyId() throws {
        let json = #"{"localId":"u1","email":"A@b.c","password":"secret12","emailVerified":true}"#
        let target = "/identitytoolkit.googleapis.com/v1/projects/any/accounts"
        let made = try #require(server.call("POST", target, json: json, [TestServer.owner]).signIn)
        #expect(made.localId == "u1")
        #expect(made.idToken == nil)
        #expect(server.call("POST", target, json: json, [TestServer.owner]).failure?.message == "DUPLICATE_LOCAL_ID")
        #expect(server.call("POST", target + "?key=k", json: json).status == 403)
        let claims = #"{"localId":"u1","customAttributes":"{\"admin\":true}"}"#
        #expect(server.call("POST", target + ":update", json: claims, [TestServer.owner]).status == 200)
        let signedIn = server.auth("signInWithPassword", #"{"email":"a@b.c","password":"secret12"}"#).signIn
        #expect(TokenClaims(signedIn?.idToken)?.admin == true)
        #expect(TokenClaims(signedIn?.idToken)?.emailVerified == true)
        #expect(TokenClaims(signedIn?.idToken)?.userId == "u1")
    }

    @Test func aUserDeletesHimself() {
        let user = server.signedUp()
        #expect(server.auth("delete", #"{"idToken":"\#(user.idToken ?? "")"}"#).status == 200)
        #expect(server.auth("delete", #"{"idToken":"\#(user.idToken ?? "")"}"#).failure?.message == "USER_NOT_FOUND")
    }

    @Test func usersOutliveTheServer() throws {
        let user = server.signedUp()
        let other = try TestServer(restarting: server)
        let signIn = #"{"email":"a@example.com","password":"secret12"}"#
        #expect(other.auth("signInWithPassword", signIn).signIn?.localId == user.localId)
        let form = "grant_type=refresh_token&refresh_token=\(escaped(user.refreshToken ?? ""))"
        #expect(other.refresh(form).signIn?.userId == user.localId)
    }

    @Test func theServerSaysWhatItIs() {
        #expect(server.call("GET", "/").text == #"{"emulator":"storage","authEmulator":{"ready":true}}"#)
        #expect(server.call("GET", "/v0/").text == #"{"emulator":"storage"}"#)
    }
}
