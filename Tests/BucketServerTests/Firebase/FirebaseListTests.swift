import TestSupport
import Testing

struct FirebaseListTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    private func put(_ names: String...) {
        for name in names { server.put(name) }
    }

    @Test func itemsCarryNamesOnly() throws {
        put("a", "dir/b", "dir/sub/c")
        let root = try #require(server.firebaseList("?delimiter=/"))
        #expect(root.items == [["name": "a", "bucket": "demo"]])
        #expect(root.prefixes == ["dir/"])
        #expect(root.nextPageToken == nil)
        let inside = try #require(server.firebaseList("?prefix=dir/&delimiter=/"))
        #expect(inside.names == ["dir/b"])
        #expect(inside.prefixes == ["dir/sub/"])
        let flat = try #require(server.firebaseList())
        #expect(flat.names == ["a", "dir/b", "dir/sub/c"])
        #expect(flat.prefixes.isEmpty)
        #expect(server.firebaseList("?prefix=none/")?.items.isEmpty == true)
    }

    struct ParameterCase: Sendable {
        let query: String
        let status: Int
    }

    @Test(arguments: [
        ParameterCase(query: "?prefix=", status: 200),
        ParameterCase(query: "?prefix=a/", status: 200),
        ParameterCase(query: "?prefix=a", status: 400),
        ParameterCase(query: "?maxResults=1", status: 200),
        ParameterCase(query: "?maxResults=5000", status: 200),
        ParameterCase(query: "?maxResults=0", status: 400),
        ParameterCase(query: "?maxResults=-1", status: 400),
        ParameterCase(query: "?maxResults=x", status: 400),
        ParameterCase(query: "?pageToken=!", status: 400),
    ])
    func parametersAreChecked(wanted: ParameterCase) {
        #expect(server.call("GET", "/v0/b/demo/o\(wanted.query)").status == wanted.status)
    }

    /// To `String` the slash belongs to the letter before it.
    @Test func aPrefixEndsWithTheByte() throws {
        put("\u{600}/f")
        #expect(server.firebaseList("?prefix=\(escaped("\u{600}/"))")?.names == ["\u{600}/f"])
    }

    @Test func itemsAndPrefixesShareThePages() throws {
        put("a", "b", "prefix/c")
        let first = try #require(server.firebaseList("?delimiter=/&maxResults=2"))
        #expect(first.names == ["a", "b"])
        #expect(first.prefixes.isEmpty)
        let token = try #require(first.nextPageToken)
        let second = try #require(server.firebaseList("?delimiter=/&maxResults=2&pageToken=\(escaped(token))"))
        #expect(second.items.isEmpty)
        #expect(second.prefixes == ["prefix/"])
        #expect(second.nextPageToken == nil)
    }

    @Test func pagesComeInTheOrderOfBytes() throws {
        let names = ["z", "é", "\u{FFFD}", "😀", "a/x", "a-x", "A", "b/1", "b/2"]
        for name in names { server.put(name) }
        var found: [String] = []
        var query = "?delimiter=/&maxResults=1"
        while true {
            let page = try #require(server.firebaseList(query))
            found += page.names + page.prefixes
            guard let token = page.nextPageToken else { break }
            query = "?delimiter=/&maxResults=1&pageToken=\(escaped(token))"
        }
        #expect(found == ["A", "a-x", "a/", "b/", "z", "é", "\u{FFFD}", "😀"])
    }

    struct HiddenCase: Sendable {
        let objects: [String]
        var prefix = ""
        let items: [String]
        let prefixes: [String]
    }

    @Test(arguments: [
        HiddenCase(objects: ["dir/"], items: [], prefixes: ["dir/"]),
        HiddenCase(objects: ["dir/", "dir/f"], prefix: "dir/", items: ["dir/f"], prefixes: []),
        HiddenCase(objects: ["bar//x"], items: [], prefixes: ["bar/"]),
        HiddenCase(objects: ["bar//x", "bar/y"], prefix: "bar/", items: ["bar/y"], prefixes: []),
        HiddenCase(objects: ["p//q/r"], prefix: "p//", items: [], prefixes: []),
        HiddenCase(objects: ["/a", "/b/c", "d"], items: ["d"], prefixes: []),
        HiddenCase(objects: ["/a", "/b/c", "//d"], prefix: "/", items: ["/a"], prefixes: ["/b/"]),
    ])
    func namesWithEmptySegmentsAreHidden(wanted: HiddenCase) throws {
        for name in wanted.objects { server.put(name) }
        let list = try #require(server.firebaseList("?delimiter=/&prefix=\(escaped(wanted.prefix))"))
        #expect(list.names == wanted.items)
        #expect(list.prefixes == wanted.prefixes)
        // They are there all the same.
        for name in wanted.objects { #expect(server.firebase("GET", name).status == 200) }
    }

    @Test func hiddenNamesTakeNoRoomOnAPage() throws {
        put("a//1", "a//2", "a//3", "a/x")
        let page = try #require(server.firebaseList("?prefix=a/&maxResults=1"))
        #expect(page.names == ["a/x"])
        #expect(page.nextPageToken == nil)
    }
}
