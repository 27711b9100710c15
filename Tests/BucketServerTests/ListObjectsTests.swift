import Testing

struct ListObjectsTests {
    /// All pages of a listing, one after another.
    private func list(_ server: TestServer, _ query: String) -> (items: [String], prefixes: [String], pages: Int) {
        var (items, prefixes, pages): ([String], [String], Int) = ([], [], 0)
        var token: String?
        repeat {
            let suffix = token.map { "&pageToken=\(escaped($0))" } ?? ""
            let page = server.call("GET", "/storage/v1/b/demo/o?\(query)\(suffix)").document
            items += page.items?.compactMap(\.name) ?? []
            prefixes += page.prefixes ?? []
            token = page.nextPageToken
            pages += 1
        } while token != nil && pages < 10_000
        return (items, prefixes, pages)
    }

    /// What a listing with a delimiter must show, worked out from the names alone.
    private func expected(_ names: [String], prefix: String, delimiter: Bool) -> (items: [String], prefixes: [String]) {
        let sorted = names.filter { $0.utf8.starts(with: prefix.utf8) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var (items, prefixes): ([String], [String]) = ([], [])
        for name in sorted {
            let rest = name.utf8.dropFirst(prefix.utf8.count)
            if delimiter, let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
                let folder = String(decoding: name.utf8[...slash], as: UTF8.self)
                if prefixes.last.map({ Array($0.utf8) }) != Array(folder.utf8) { prefixes.append(folder) }
            } else {
                items.append(name)
            }
        }
        return (items, prefixes)
    }

    private static let oddNames = [
        "a//b", "/a", "a/", "a", "a/b", "é", "e\u{301}", "z%41", "q?x=1&y", "plus+and space", "#", "\u{10FFFF}",
        "tab\tname",
        "quote\"back\\slash", "a/../b", "a/./b", "\u{1}", "%", "a/\u{10FFFF}/x", "日本/語",
    ]

    @Test func everyPageSizeShowsEveryNameOnceInByteOrder() throws {
        let server = try TestServer()
        var names = Self.oddNames
        for folder in 0..<12 { for file in 0..<9 { names.append("folder\(folder)/\(file)/x\(file)") } }
        for name in names { #expect(server.put(name).status == 200) }
        for prefix in ["", "a", "a/", "folder1", "folder1/", "folder10/3/", "nothing"] {
            for delimiter in [true, false] {
                let want = expected(names, prefix: prefix, delimiter: delimiter)
                for size in [1, 2, 7, 1000] {
                    let query = "prefix=\(escaped(prefix))&maxResults=\(size)" + (delimiter ? "&delimiter=%2F" : "")
                    let got = list(server, query)
                    // Compared as bytes: composed and decomposed letters are equal strings and different names.
                    #expect(got.items.map { Array($0.utf8) } == want.items.map { Array($0.utf8) }, "\(query)")
                    #expect(got.prefixes.map { Array($0.utf8) } == want.prefixes.map { Array($0.utf8) }, "\(query)")
                }
            }
        }
    }

    @Test func itemsAndPrefixesFillAPageTogether() throws {
        let server = try TestServer()
        for name in ["a", "b", "prefix/c"] { server.put(name) }
        let first = server.call("GET", "/storage/v1/b/demo/o?delimiter=/&maxResults=2").document
        #expect(first.items?.compactMap(\.name) == ["a", "b"])
        #expect(first.prefixes == nil)
        #expect(first.nextPageToken != nil)
        let both = list(server, "delimiter=/&maxResults=2")
        #expect(both.prefixes == ["prefix/"])
        #expect(both.pages == 2)
    }

    @Test(arguments: [1, 2, 3, 1000])
    func aTrailingDelimiterShowsThePlaceholderInBothLists(pageSize: Int) throws {
        let server = try TestServer()
        for name in ["dir/", "dir/x", "empty/", "f", "f/"] { server.put(name) }
        let plain = list(server, "delimiter=/&maxResults=\(pageSize)")
        #expect(plain.items == ["f"])
        #expect(plain.prefixes == ["dir/", "empty/", "f/"])
        let both = list(server, "delimiter=/&includeTrailingDelimiter=true&maxResults=\(pageSize)")
        #expect(both.items == ["dir/", "empty/", "f", "f/"])
        #expect(both.prefixes == ["dir/", "empty/", "f/"])
    }

    @Test func thePrefixItselfIsAnItem() throws {
        let server = try TestServer()
        for name in ["d/", "d/x", "d/y/z"] { server.put(name) }
        let listing = list(server, "prefix=d/&delimiter=/")
        #expect(listing.items == ["d/", "d/x"])
        #expect(listing.prefixes == ["d/y/"])
    }

    @Test func offsetsBoundTheNames() throws {
        let server = try TestServer()
        for name in ["a", "b", "c/1", "c/2", "d"] { server.put(name) }
        #expect(list(server, "startOffset=b&endOffset=d").items == ["b", "c/1", "c/2"])
        #expect(list(server, "startOffset=c/2&delimiter=/").prefixes == ["c/"])
        #expect(list(server, "prefix=c/&startOffset=c/2").items == ["c/2"])
        #expect(list(server, "prefix=c/&endOffset=b").items == [])
    }

    @Test func aGlobPicksNames() throws {
        let server = try TestServer()
        for name in ["a.txt", "b.png", "d/c.txt", "d/e/f.txt"] { server.put(name) }
        #expect(list(server, "matchGlob=*.txt").items == ["a.txt"])
        #expect(list(server, "matchGlob=**.txt").items == ["a.txt", "d/c.txt", "d/e/f.txt"])
        #expect(list(server, "matchGlob=%7Ba,b%7D.*").items == ["a.txt", "b.png"])
        #expect(list(server, "matchGlob=d/%5Ba-c%5D.t?t").items == ["d/c.txt"])
    }

    @Test func fieldsCutTheAnswer() throws {
        let server = try TestServer()
        server.put("a")
        server.put("d/x")
        let answer = server.call("GET", "/storage/v1/b/demo/o?delimiter=/&fields=items(name,size),prefixes")
        #expect(answer.text == #"{"items":[{"name":"a","size":"0"}],"prefixes":["d/"]}"#)
    }

    @Test func emptyListsAreLeftOut() throws {
        let server = try TestServer()
        #expect(server.call("GET", "/storage/v1/b/demo/o").text == #"{"kind":"storage#objects"}"#)
    }

    @Test func aForeignPageTokenIsRefused() throws {
        let server = try TestServer()
        #expect(server.call("GET", "/storage/v1/b/demo/o?pageToken=%00bogus").status == 400)
    }

    @Test func foldersAreJumpedOver() throws {
        let server = try TestServer()
        // Many names in folders that a listing collapses; page depth must not matter.
        for folder in 0..<4 { for file in 0..<150 { server.put("big\(folder)/\(file)") } }
        let listing = list(server, "delimiter=/&maxResults=1")
        #expect(listing.prefixes == ["big0/", "big1/", "big2/", "big3/"])
        #expect(listing.pages == 4)
    }
}
