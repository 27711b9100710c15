import Testing

@testable import firemount

struct RecoverRequestTests {
    @Test func whatIsAskedForIsUnderstood() throws {
        func action(_ words: String) throws -> RecoverRequest.Action {
            try RecoverRequest(parsing: words.split(separator: " ").map(String.init)).action
        }
        #expect(try action("") == .list(nil, asJSON: false))
        #expect(try action("gs://b --json") == .list(.bucket("b"), asJSON: true))
        #expect(try action("/mnt/b") == .list(.mountPoint(#require(TypedPath(spelling: "/mnt/b"))), asJSON: false))
        #expect(try action("retry aB1-2") == .retryOne("aB1-2"))
        #expect(try action("retry --all") == .retry(nil))
        #expect(try action("discard aB1-2") == .discard("aB1-2"))
        #expect(try action("store aB1-2 --as x/y") == .store("aB1-2", as: "x/y"))
        let path = try #require(TypedPath(spelling: "out"))
        #expect(try action("export aB1-2 out") == .export("aB1-2", into: path, isAlone: false))
        #expect(try action("export --written-only aB1-2 out") == .export("aB1-2", into: path, isAlone: true))
    }

    @Test(arguments: ["retry", "export aB1-2", "store aB1-2", "discard a b", "gs://a gs://b"])
    func whatIsIncompleteIsRefused(words: String) {
        #expect(throws: UsageError.self) {
            try RecoverRequest(parsing: words.split(separator: " ").map(String.init))
        }
    }

    @Test func theBucketIsReachedAsAMountWould() throws {
        let request = try RecoverRequest(parsing: ["--anonymous", "--cache-dir", "/c", "--endpoint", "http://h:1"])
        #expect(request.mount.isAnonymous)
        #expect(request.mount.cacheDirectory == TypedPath(spelling: "/c"))
    }
}
