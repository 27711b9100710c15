import TestSupport
import Testing

@testable import BucketServer

struct SchemaTests {
    @Test func anIndexWithoutUsersGetsThem() throws {
        let first = try TestServer()
        first.put("f", "hello")
        let older = try Database(path: first.directory.path + "/index.sqlite")
        try older.run("DROP TABLE accounts")
        try older.run("PRAGMA user_version = 1")
        let second = try TestServer(restarting: first)
        #expect(second.media("f").text == "hello")
        #expect(second.signedUp().localId != nil)
        let third = try TestServer(restarting: second)
        #expect(third.auth("signUp", #"{"email":"a@example.com","password":"secret12"}"#).status == 400)
    }

    @Test func anIndexFromTheFutureIsRefused() throws {
        let first = try TestServer()
        try Database(path: first.directory.path + "/index.sqlite").run("PRAGMA user_version = 99")
        #expect(throws: ServerError.self) { try TestServer(restarting: first) }
    }
}
