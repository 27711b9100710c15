import ObjectStore
import Testing

@testable import CloudStores

struct ListObjectsTests {
    private func list(_ body: String) async throws -> ListPage {
        try await ScriptedStore([.json(body)]).store.list(ListQuery(prefix: ObjectName("d/"), collapsesFolders: true))
    }

    @Test func aPageIsAskedForAsTheProtocolSays() async throws {
        let scripted = try ScriptedStore([.json(#"{"kind":"storage#objects"}"#)])
        _ = try await scripted.store.list(
            ListQuery(prefix: ObjectName("a b/é+"), collapsesFolders: true, pageSize: 500, pageToken: "t/="))
        let asked = scripted.asked[0]
        #expect(asked.path == "/storage/v1/b/demo/o")
        #expect(asked.query("prefix") == "a%20b%2F%C3%A9%2B")
        #expect(asked.query("delimiter") == "%2F")
        #expect(asked.query("maxResults") == "500")
        #expect(asked.query("pageToken") == "t%2F%3D")
        #expect(asked.query("prettyPrint") == "false")
        #expect(asked.query("includeTrailingDelimiter") == "true")
        #expect(asked.query("fields")?.contains("items%28name%2Csize%2Cgeneration") == true)
    }

    @Test func aFlatListOfEverythingNamesNeitherPrefixNorDelimiter() async throws {
        let scripted = try ScriptedStore([.json(#"{"items":[]}"#)])
        _ = try await scripted.store.list(ListQuery(prefix: ObjectName([]), collapsesFolders: false, pageSize: 5_000))
        #expect(scripted.asked[0].query("prefix") == nil && scripted.asked[0].query("delimiter") == nil)
        #expect(scripted.asked[0].query("maxResults") == "1000")
    }

    @Test func itemsFoldersAndTokenAreRead() async throws {
        let full = #"""
            {"name":"d/é","generation":"1796032207819800","metageneration":"3","size":"5","contentType":"text/plain",
            "contentEncoding":"gzip","contentDisposition":"inline","contentLanguage":"de","cacheControl":"no-cache",
            "crc32c":"mnG7TA==","md5Hash":"XUFAKrxLKna5cZ2REBfFkg==","etag":"CL","storageClass":"STANDARD",
            "componentCount":2,"timeCreated":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00.123Z",
            "metadata":{"a":"1","n":7,"":""},"acl":[{"x":[1,2,{"name":"no"}]}],"unknown":{"name":"no","size":"-1"}}
            """#
        let page = try await list(
            #"{"kind":"storage#objects","nextPageToken":"next","prefixes":["d/b/","d/c/"],"items":["# + full
                + #",{"name":"d/","generation":1,"size":0}]}"#)
        var headers = ObjectHeaders(
            contentType: "text/plain", contentEncoding: "gzip", contentDisposition: "inline", contentLanguage: "de",
            cacheControl: "no-cache")
        headers.custom = ["a": "1", "": ""]
        let expected = ObjectMetadata(
            name: ObjectName("d/é"), objectGeneration: ObjectGeneration(1_796_032_207_819_800),
            metageneration: Metageneration(3), size: 5, timeCreated: Timestamp(seconds: 1_767_225_600),
            updated: Timestamp(seconds: 1_767_225_600, nanoseconds: 123_000_000), crc32c: 0x9A71_BB4C,
            md5: [0x5D, 0x41, 0x40, 0x2A, 0xBC, 0x4B, 0x2A, 0x76, 0xB9, 0x71, 0x9D, 0x91, 0x10, 0x17, 0xC5, 0x92],
            etag: "CL", storageClass: "STANDARD", componentCount: 2, headers: headers)
        #expect(page.items.first == expected)
        #expect(page.items.last?.name == ObjectName("d/"))
        #expect(page.items.last?.crc32c == nil && page.items.last?.md5 == nil)
        #expect(page.folders == [ObjectName("d/b/"), ObjectName("d/c/")])
        #expect(page.nextPageToken == "next")
    }

    @Test(arguments: [
        #"{"kind":"storage#objects"}"#, #"{"items":[]}"#, #"{"prefixes":[]}"#, #"{"items":null,"prefixes":null}"#,
        #"{"kind":"storage#objects","nextPageToken":""}"#,
    ])
    func anEmptyPageIsEmpty(body: String) async throws {
        let page = try await list(body)
        #expect(page.items.isEmpty && page.folders.isEmpty && page.nextPageToken == nil)
    }

    @Test func anEmptyPageMayHaveASuccessor() async throws {
        #expect(try await list(#"{"nextPageToken":"t"}"#).nextPageToken == "t")
    }

    @Test func namesAreTheirBytes() async throws {
        let page = try await list(
            #"{"items":[{"name":"d/e\u0301\u0000\n\ud83d\ude00","generation":1,"size":0}],"prefixes":["d/\u00e9/"]}"#
        )
        #expect(page.items.first?.name == ObjectName("d/e\u{301}\0\n😀"))
        #expect(page.folders == [ObjectName([0x64, 0x2F, 0xC3, 0xA9, 0x2F])])
    }

    @Test(arguments: [
        "", " ", "null", "[]", "7", "{}", "{", "<!doctype html><html></html>", #"{"items":{}}"#, #"{"items":[7]}"#,
        #"{"items":[{}]}"#, #"{"items":[{"generation":"1","size":"0"}]}"#, #"{"items":[{"name":"x","size":"0"}]}"#,
        #"{"items":[{"name":"x","generation":"1"}]}"#, #"{"items":[{"name":"","generation":"1","size":"0"}]}"#,
        #"{"items":[{"name":7,"generation":"1","size":"0"}]}"#,
        #"{"items":[{"name":"x","generation":"one","size":"0"}]}"#,
        #"{"items":[{"name":"x","generation":"1","size":"-1"}]}"#,
        #"{"items":[{"name":"x","generation":-1,"size":"1"}]}"#,
        #"{"items":[{"name":"x","generation":"1","size":"99999999999999999999"}]}"#,
        #"{"items":[{"name":"x","generation":"9223372036854775808","size":"0"}]}"#,
        #"{"items":[{"name":"x","generation":"1","size":1.5}]}"#,
        #"{"items":[{"name":"x","generation":"1","size":"0","updated":"yesterday"}]}"#,
        #"{"items":[{"name":"x","generation":"1","size":"0","crc32c":"mnG7"}]}"#,
        #"{"items":[{"name":"x","generation":"1","size":"0","crc32c":"m&G7TA=="}]}"#,
        #"{"items":[{"name":"x","generation":"1","size":"0","md5Hash":"mnG7TA=="}]}"#,
        #"{"prefixes":"d/"}"#, #"{"prefixes":[7]}"#, #"{"prefixes":[""]}"#,
        #"{"prefixes":["a/"],"items":[{"name":"x"}]}"#,
        #"{"error":{"code":503,"message":"later"}}"#, #"{"items":[{"name":"\ud800","generation":"1","size":"0"}]}"#,
        "{\"items\":[{\"name\":\"\u{1}\",\"generation\":\"1\",\"size\":\"0\"}]}",
    ])
    func whatIsNoPageIsMalformed(body: String) async throws {
        let scripted = try ScriptedStore([.json(body)])
        let error = await failure(
            of: try await scripted.store.list(ListQuery(prefix: ObjectName("d/"), collapsesFolders: true)))
        #expect(error?.kind == .malformedAnswer)
    }

    /// Such a page would show what is elsewhere, names that no entry can have, or itself for ever.
    @Test(arguments: [
        #"{"prefixes":["e/a/"]}"#, #"{"prefixes":["d/a"]}"#, #"{"prefixes":["d/a/b/"]}"#, #"{"prefixes":["d/"]}"#,
        #"{"items":[{"name":"e","generation":"1","size":"0"}]}"#,
        #"{"items":[{"name":"d/a/b","generation":"1","size":"0"}]}"#, #"{"items":[],"nextPageToken":"same"}"#,
    ])
    func aPageThatWasNotAskedForIsMalformed(body: String) async throws {
        let query = ListQuery(prefix: ObjectName("d/"), collapsesFolders: true, pageToken: "same")
        let scripted = try ScriptedStore([.json(body)])
        #expect(await failure(of: try await scripted.store.list(query))?.kind == .malformedAnswer)
    }

    @Test func aMissingBucketIsNamed() async throws {
        let scripted = try ScriptedStore([.error(404)])
        let error = await failure(of: try await scripted.store.checkBucket())
        #expect(error?.kind == .notFound)
        #expect(error?.message.contains("demo") == true)
        #expect(scripted.asked[0].query("maxResults") == "1")
    }

    @Test(
        arguments: [(401, .unauthenticated), (403, .forbidden), (400, .invalidRequest)] as [(Int, StorageError.Kind)])
    func aBucketThatMayNotBeListedSaysWhy(status: Int, kind: StorageError.Kind) async throws {
        let scripted = try ScriptedStore([.error(status)])
        #expect(await failure(of: try await scripted.store.checkBucket())?.kind == kind)
    }

    @Test func theProjectThatPaysIsNamed() async throws {
        let own = try ScriptedStore([.json(#"{"items":[]}"#)]) { $0.userProject = "p" }
        try await own.store.checkBucket()
        #expect(own.asked[0].header("x-goog-user-project") == "p")
        let credentials = FixedCredentials(Authorization(value: "Bearer t", quotaProject: "q"))
        let named = try ScriptedStore([.json(#"{"items":[]}"#)], credentials: credentials)
        try await named.store.checkBucket()
        #expect(named.asked[0].header("x-goog-user-project") == "q")
    }

    /// Cut anywhere, with any byte changed: an error or a page, never a crash.
    @Test(arguments: 0..<4 as Range<Int>)
    func damagedPagesNeverCrash(part: Int) async throws {
        let page = Array(
            (#"{"kind":"k","prefixes":["d/"],"items":["# + resource("d/x", [1, 2], metadata: #"{"a":"b"}"#)
                + #"],"nextPageToken":"t"}"#).utf8)
        for index in stride(from: part, to: page.count, by: 4) {
            var changed = page
            changed[index] ^= UInt8(1 << (index % 7))
            for body in [changed, Array(page[..<index])] {
                if let document = try? AnswerDocument(body, .page) { _ = try? document.objects() }
                if let document = try? AnswerDocument(body, .object) { _ = try? document.object() }
                _ = try? AnswerDocument(body, .rewrite)
            }
        }
    }
}
