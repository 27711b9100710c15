import BucketServer
import Testing

struct FolderTests {
    private let server: TestServer
    private let root = "/storage/v1/b/tree"

    init() throws { server = try TestServer { $0.hierarchicalBuckets = ["tree"] } }

    private func put(_ name: String) {
        let target = "/upload/storage/v1/b/tree/o?uploadType=media&name=\(escaped(name))"
        #expect(server.send("POST", target, body: Array(name.utf8)).status == 200)
    }

    private func make(_ name: String, query: String = "") -> Answer {
        server.call("POST", root + "/folders" + query, json: #"{"name":"\#(name)"}"#)
    }

    private func folders(_ query: String = "") -> [String] {
        server.call("GET", root + "/folders" + query).document.items?.compactMap(\.name) ?? []
    }

    private func listing(_ query: String) -> Document {
        server.call("GET", root + "/o?delimiter=/&" + query).document
    }

    @Test func theLayoutSaysWhichBucketsHaveFolders() {
        #expect(server.call("GET", root + "/storageLayout").text.contains(#""enabled":true"#))
        #expect(server.call("GET", "/storage/v1/b/demo/folders").status == 400)
    }

    @Test func anObjectMakesItsFolders() {
        put("a/b/c")
        put("d//e")
        #expect(folders() == ["a/", "a/b/", "d/", "d//"])
        _ = server.call("DELETE", root + "/o/a%2Fb%2Fc")
        #expect(folders("?prefix=a/") == ["a/", "a/b/"])
    }

    @Test func aFolderNeedsItsParentUnlessAskedForAll() {
        #expect(make("x/y/").status == 404)
        #expect(make("x/y/", query: "?recursive=true").status == 200)
        #expect(make("x/y/").status == 409)
        #expect(folders() == ["x/", "x/y/"])
        #expect(server.call("GET", root + "/folders/x%2Fy%2F").document.name == "x/y/")
        #expect(server.call("GET", root + "/folders/none%2F").status == 404)
    }

    @Test func onlyAnEmptyFolderIsDeleted() {
        put("a/b/c")
        #expect(server.call("DELETE", root + "/folders/a%2F").status == 409)
        #expect(server.call("DELETE", root + "/folders/a%2Fb%2F").status == 409)
        _ = server.call("DELETE", root + "/o/a%2Fb%2Fc")
        #expect(server.call("DELETE", root + "/folders/a%2F").status == 409)
        #expect(server.call("DELETE", root + "/folders/a%2Fb%2F").status == 204)
        #expect(server.call("DELETE", root + "/folders/a%2F").status == 204)
        #expect(server.call("DELETE", root + "/folders/a%2F").status == 404)
    }

    @Test func foldersAreListedByPages() {
        for name in ["a/1/", "a/2/", "b/", "c/3/"] { _ = make(name, query: "?recursive=true") }
        #expect(folders() == ["a/", "a/1/", "a/2/", "b/", "c/", "c/3/"])
        #expect(folders("?delimiter=/") == ["a/", "b/", "c/"])
        #expect(folders("?prefix=a/&delimiter=/") == ["a/", "a/1/", "a/2/"])
        #expect(folders("?startOffset=a/2/&endOffset=c/") == ["a/2/", "b/"])
        let first = server.call("GET", root + "/folders?pageSize=4").document
        #expect(first.items?.count == 4)
        #expect(folders("?pageSize=4&pageToken=\(escaped(first.nextPageToken ?? ""))") == ["c/", "c/3/"])
    }

    @Test(arguments: [1, 2, 1000])
    func emptyFoldersShowAsPrefixesWhenAskedFor(pageSize: Int) {
        put("full/x")
        put("marked/")
        _ = make("empty/")
        _ = make("full/inner/")
        #expect(listing("").prefixes == ["full/", "marked/"])
        var (items, prefixes): ([String], [String]) = ([], [])
        var token = ""
        repeat {
            let query = "includeFoldersAsPrefixes=true&includeTrailingDelimiter=true&maxResults=\(pageSize)"
            let page = listing(query + "&pageToken=\(escaped(token))")
            items += page.items?.compactMap(\.name) ?? []
            prefixes += page.prefixes ?? []
            token = page.nextPageToken ?? ""
        } while !token.isEmpty
        #expect(items == ["marked/"])
        #expect(prefixes == ["empty/", "full/", "marked/"])
        let inner = listing("includeFoldersAsPrefixes=true&prefix=full/")
        #expect(inner.items?.compactMap(\.name) == ["full/x"])
        #expect(inner.prefixes == ["full/inner/"])
        #expect(server.call("GET", root + "/o?includeFoldersAsPrefixes=true").status == 400)
    }

    @Test func aRenameMovesEverythingAtOnce() {
        for name in ["a/1", "a/b/2", "ab/3"] { put(name) }
        let before = server.call("GET", root + "/o/a%2Fb%2F2").document
        let begun = server.call("POST", root + "/folders/a%2F/renameTo/folders/z%2F")
        #expect(begun.document.done == false)
        let id = begun.document.name?.split(separator: "/").last ?? ""
        #expect(server.call("GET", root + "/operations/\(id)").document.done == true)
        #expect(folders() == ["ab/", "z/", "z/b/"])
        let after = server.call("GET", root + "/o/z%2Fb%2F2")
        #expect(after.document.generation == before.generation)
        #expect(server.send("GET", root + "/o/z%2F1?alt=media").text == "a/1")
        #expect(server.call("GET", root + "/o/a%2F1").status == 404)
        #expect(server.call("GET", root + "/o/ab%2F3").status == 200)
    }

    @Test func aRenameIsRefusedWhereItCannotBe() {
        for name in ["a/1", "b/2"] { put(name) }
        func rename(_ source: String, _ destination: String, query: String = "") -> Int {
            server.call("POST", root + "/folders/\(source)%2F/renameTo/folders/\(destination)%2F\(query)").status
        }
        #expect(rename("a", "b") == 409)
        #expect(rename("none", "c") == 404)
        #expect(rename("a", "none%2Fc") == 404)
        #expect(rename("a", "a%2Fc") == 400)
        #expect(rename("a", "c", query: "?ifSourceMetagenerationMatch=7") == 412)
        #expect(rename("a", "c", query: "?ifSourceMetagenerationMatch=1") == 200)
    }

    @Test func aFolderIsDeletedWithEverythingInIt() {
        for name in ["a/1", "a/b/2", "c"] { put(name) }
        #expect(server.call("POST", root + "/folders/a%2F/deleteRecursive").document.done == false)
        #expect(folders() == [])
        #expect(server.call("GET", root + "/o").document.items?.compactMap(\.name) == ["c"])
    }

    @Test func aMovedObjectMakesItsFolders() {
        put("a")
        #expect(server.call("POST", root + "/o/a/moveTo/o/x%2Fy%2Fa").status == 200)
        #expect(folders() == ["x/", "x/y/"])
    }
}
