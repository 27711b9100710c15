import Testing

struct CallerTests {
    @Test func anExpiredTokenIsUnauthorized() throws {
        let server = try TestServer { $0.tokenLifetime = .zero }
        let upload = server.firebaseUpload("f")
        let user = server.signedUp()
        #expect(user.expiresIn == "0")
        let credential = [("Authorization", "Firebase \(user.idToken ?? "")")]
        for answer in [
            server.firebase("GET", "f", query: "", credential), server.firebaseMedia("f", credential),
            server.send("GET", "/v0/b/demo/o", credential), server.firebase("PATCH", "f", json: "{}", credential),
            server.firebase("DELETE", "f", credential), server.firebaseUpload("g", "", json: "{}", credential),
        ] {
            #expect(answer.status == 401)
            #expect(answer.failure?.code == 401)
        }
        // A download token stands for itself.
        let token = upload.firebaseObject?.downloadTokens ?? ""
        #expect(server.firebaseMedia("f", query: "&token=\(token)", credential).status == 200)
    }

    @Test func aTokenIsGoodForItsTime() throws {
        let server = try TestServer { $0.tokenLifetime = .seconds(30) }
        server.firebaseUpload("f")
        let user = server.signedUp()
        #expect(user.expiresIn == "30")
        #expect(server.firebase("GET", "f", [("Authorization", "Firebase \(user.idToken ?? "")")]).status == 200)
        let form = "grant_type=refresh_token&refresh_token=\(escaped(user.refreshToken ?? ""))"
        #expect(server.refresh(form).signIn?.expiresIn == "30")
    }

    /// Tests of other projects make such tokens themselves.
    @Test func aTokenIssuedAtZeroNeverEnds() throws {
        let server = try TestServer()
        server.firebaseUpload("f")
        let payload = #"{"iat":0,"exp":3600,"sub":"u1","user_id":"u1"}"#
        let token = "\(base64URL(#"{"alg":"none"}"#)).\(base64URL(payload))."
        #expect(server.firebase("GET", "f", [("Authorization", "Firebase \(token)")]).status == 200)
    }

    @Test func anUploadsCredentialIsThatOfItsStart() throws {
        let server = try TestServer { $0.tokenLifetime = .zero }
        let answer = server.call(
            "POST", "/v0/b/demo/o?name=f", json: "{}", [("X-Goog-Upload-Command", "start"), TestServer.owner])
        let url = answer["X-Goog-Upload-URL"] ?? ""
        let session = String(url.dropFirst("http://127.0.0.1:\(server.port)".count))
        let credential = ("Authorization", "Firebase \(server.signedUp().idToken ?? "")")
        let last = server.send("POST", session, [("X-Goog-Upload-Command", "finalize"), credential], body: [])
        #expect(last.status == 200)
    }
}
