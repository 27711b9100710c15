import FoundationEssentials
import Locking
import TestSupport
import Testing

@testable import BucketServer

/// The rules in force in a running server: which requests they are asked about, and what a changed file does.
struct SecurityRulesTests {
    private static let userFolders = """
        rules_version = '2';
        service firebase.storage { match /b/{bucket}/o {
          match /users/{uid}/{file=**} {
            allow read: if request.auth.uid == uid;
            allow create: if request.auth.uid == uid && request.resource.size < 10;
            allow delete: if request.auth.uid == uid && request.resource == null;
          }
        } }
        """

    /// A server under rules that a test can change.
    private final class RuledServer {
        let folder = temporaryDirectory()
        let lines = LineLog()
        let server: TestServer

        init(_ rules: String) throws {
            let path = folder.path + "/storage.rules"
            try Data(rules.utf8).write(to: URL(filePath: path))
            server = try TestServer { [lines] configuration in
                configuration.rulesFile = path
                configuration.log = { lines.append($0) }
            }
        }

        func write(_ rules: String) throws {
            try Data(rules.utf8).write(to: URL(filePath: folder.path + "/storage.rules"))
        }

        func remove() throws { try FileManager.default.removeItem(atPath: folder.path + "/storage.rules") }

        func setRules(_ content: String) -> Answer {
            let file = "{\"name\":\"sent.rules\",\"content\":\"\(content)\"}"
            return server.call("PUT", "/internal/setRules", json: "{\"rules\":{\"files\":[\(file)]}}")
        }

        func get(_ name: String, as user: String?) -> Answer {
            server.send("GET", "/v0/b/demo/o/\(escaped(name))", Self.authorization(user))
        }

        func upload(_ name: String, _ content: String, as user: String?) -> Answer {
            server.send(
                "POST", "/v0/b/demo/o?name=\(escaped(name))",
                Self.authorization(user) + [("Content-Type", "text/plain")], body: Array(content.utf8))
        }

        func delete(_ name: String, as user: String?) -> Answer {
            server.send("DELETE", "/v0/b/demo/o/\(escaped(name))", Self.authorization(user))
        }

        func list(_ query: String, as user: String?) -> Answer {
            server.send("GET", "/v0/b/demo/o\(query)", Self.authorization(user))
        }

        private static func authorization(_ user: String?) -> [(String, String)] {
            guard let user else { return [] }
            guard user != "owner" else { return [("Authorization", "Bearer owner")] }
            let claims = "{\"sub\":\"\(user)\",\"user_id\":\"\(user)\",\"iat\":0}"
            let parts = ["{\"alg\":\"none\"}", claims].map { Data($0.utf8).base64EncodedString().filter { $0 != "=" } }
            return [("Authorization", "Firebase \(parts[0]).\(parts[1]).")]
        }
    }

    private final class LineLog: Sendable {
        private let lines = Lock<[String]>([])

        func append(_ line: String) { lines.withLock { $0.append(line) } }

        var all: [String] { lines.withLock { $0 } }
    }

    private func message(_ answer: Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    @Test func aUserHasTheFolderOfTheirNameAndNoOther() throws {
        let ruled = try RuledServer(Self.userFolders)
        #expect(ruled.upload("users/alice/a.txt", "hello", as: "alice").status == 200)
        #expect(ruled.get("users/alice/a.txt", as: "alice").status == 200)
        #expect(ruled.list("?prefix=users/alice/&delimiter=/", as: "alice").status == 200)
        #expect(ruled.get("users/alice/a.txt", as: "bob").status == 403)
        #expect(ruled.get("users/alice/a.txt", as: nil).status == 403)
        #expect(ruled.upload("users/alice/b.txt", "hello", as: "bob").status == 403)
        #expect(ruled.list("?prefix=users/alice/&delimiter=/", as: "bob").status == 403)
        #expect(ruled.list("?prefix=users/&delimiter=/", as: "alice").status == 403)
        #expect(ruled.delete("users/alice/a.txt", as: "bob").status == 403)
        #expect(ruled.delete("users/alice/a.txt", as: "alice").status == 204)
    }

    @Test func missingObjectsAreForbiddenBeforeTheyAreMissing() throws {
        let ruled = try RuledServer(Self.userFolders)
        #expect(ruled.get("users/alice/none", as: "alice").status == 404)
        #expect(ruled.get("users/alice/none", as: "bob").status == 403)
    }

    @Test func whatIsTooLargeIsNotStored() throws {
        let ruled = try RuledServer(Self.userFolders)
        #expect(ruled.upload("users/alice/a.txt", "0123456789", as: "alice").status == 403)
        #expect(ruled.get("users/alice/a.txt", as: "alice").status == 404)
    }

    @Test func aDenialNamesTheStatement() throws {
        let ruled = try RuledServer(Self.userFolders)
        let denial = message(ruled.get("users/alice/a.txt", as: "bob"))
        #expect(denial.contains("storage.rules:4: allow read: condition is false at 4:"))
        #expect(message(ruled.get("other", as: "bob")).contains("storage.rules: no match for /b/demo/o/other"))
    }

    @Test func theOwnerAndTheJSONAPIAreNotUnderRules() throws {
        let ruled = try RuledServer("service firebase.storage { }")
        #expect(ruled.upload("a", "hello", as: "alice").status == 403)
        #expect(ruled.upload("a", "hello", as: "owner").status == 200)
        #expect(ruled.server.get("a").status == 200)
    }

    // MARK: The file

    @Test func whatIsSavedCountsForTheNextRequest() throws {
        let ruled = try RuledServer("service firebase.storage { }")
        #expect(ruled.upload("a", "hello", as: "alice").status == 403)
        try ruled.write("service firebase.storage { match /{a=**} { allow read, write; } }")
        #expect(ruled.upload("a", "hello", as: "alice").status == 200)
        try ruled.write(Self.userFolders)
        #expect(ruled.get("a", as: "alice").status == 403)
    }

    @Test func aFileThatDoesNotParseRefusesEverythingUntilItIsMended() throws {
        let ruled = try RuledServer("service firebase.storage { match /{a=**} { allow read, wrote; } }")
        let error = "storage.rules:1:56: expected get, list, read, create, update, delete or write, found 'wrote'"
        let answer = ruled.upload("a", "hello", as: "alice")
        #expect(answer.status == 403)
        #expect(message(answer).contains(error))
        #expect(ruled.lines.all.contains { $0.contains(error) })
        try ruled.write("service firebase.storage { match /{a=**} { allow read, write; } }")
        #expect(ruled.upload("a", "hello", as: "alice").status == 200)
    }

    @Test func aFileThatIsGoneRefusesEverything() throws {
        let ruled = try RuledServer("service firebase.storage { match /{a=**} { allow read, write; } }")
        #expect(ruled.upload("a", "hello", as: "alice").status == 200)
        try ruled.remove()
        #expect(ruled.get("a", as: "alice").status == 403)
        try ruled.write("service firebase.storage { match /{a=**} { allow read, write; } }")
        #expect(ruled.get("a", as: "alice").status == 200)
    }

    @Test func aServerDoesNotStartWithoutTheFileItWasTold() {
        #expect(throws: ServerError.self) {
            _ = try TestServer { $0.rulesFile = "/nowhere/storage.rules" }
        }
    }

    @Test func debugWritesToTheLog() throws {
        let ruled = try RuledServer("service firebase.storage { match /{a=**} { allow read: if debug(1) == 1; } }")
        #expect(ruled.get("a", as: nil).status == 404)
        #expect(ruled.lines.all.last == "debug: storage.rules:1:59: int_value: 1")
    }

    // MARK: setRules

    @Test func sentRulesAreInForce() throws {
        let ruled = try RuledServer("service firebase.storage { }")
        #expect(ruled.setRules("service firebase.storage { match /{a=**} { allow read, write; } }").status == 200)
        #expect(ruled.upload("a", "hello", as: nil).status == 200)
        #expect(ruled.setRules("service firebase.storage { }").status == 200)
        #expect(message(ruled.get("a", as: nil)).contains("sent.rules: no match"))
    }

    @Test func sentRulesThatDoNotParseChangeNothing() throws {
        let ruled = try RuledServer("service firebase.storage { match /{a=**} { allow read, write; } }")
        let answer = ruled.setRules("service firebase.storage {")
        #expect(answer.status == 400)
        #expect(message(answer).contains("sent.rules:1:27: expected 'match', 'function' or '}'"))
        #expect(ruled.server.call("PUT", "/internal/setRules", json: "{}").status == 400)
        #expect(ruled.upload("a", "hello", as: nil).status == 200)
    }

    @Test func sentRulesNeedNoFile() throws {
        let server = try TestServer()
        let file = "{\"name\":\"sent.rules\",\"content\":\"service firebase.storage { }\"}"
        #expect(server.call("GET", "/v0/b/demo/o/a").status == 404)
        #expect(server.call("PUT", "/internal/setRules", json: "{\"rules\":{\"files\":[\(file)]}}").status == 200)
        #expect(server.call("GET", "/v0/b/demo/o/a").status == 403)
    }
}
