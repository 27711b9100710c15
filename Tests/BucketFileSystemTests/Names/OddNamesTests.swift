import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct OddNamesTests {
    @Test func everyObjectIsReachableAndShownOnce() async throws {
        let long = String(repeating: "x", count: 300)
        let names = ["a", "a/b", "c//d", "/e", "./f", "g/../h", "i\nj", long, long + "/k", "l"]
        let bench = Bench(objects: names.map { ($0, $0) })
        func read(_ path: String) async throws -> [String] {
            var found: [String] = []
            for name in try await bench.list(path) {
                let below = path.isEmpty ? name : path + "/" + name
                let isFolder = try await bench.find(below).attributes.kind == .directory
                found += isFolder ? try await read(below) : [try await bench.read(below)]
            }
            return found
        }
        #expect(try await read("").sorted() == names.sorted())
    }

    @Test func removingOneOfAFileAndAFolderOfOneNameLeavesTheOther() async throws {
        let bench = Bench(objects: [("a", "1"), ("a/b", "2"), ("c", "3"), ("c/d", "4")])
        #expect(try await bench.list().sorted() == ["a", "a\u{FF05}2F", "c", "c\u{FF05}2F"])
        try await bench.unlink("a")
        #expect(bench.store.names == ["a/b", "c", "c/d"])
        try await bench.rename("c\u{FF05}2F", to: "e")
        #expect(bench.store.names == ["a/b", "c", "e/d"])
    }

    @Test func fileAndFolderOfOneNameAreToldApartInALargeFolder() async throws {
        let many = (0..<30).map { ("f\(100 + $0)", "x") } + [("f115/y", "z")]
        let bench = Bench({ $0.listPageSize = 10 }, objects: many)
        _ = await bench.exists("nothing")
        #expect(try await bench.read("f115") == "x")
        #expect(try await bench.read("f115\u{FF05}2F/y") == "z")
        #expect(await bench.exists("f116\u{FF05}2F") == false)
    }

    @Test(arguments: [
        "a\nb", "x\u{FF05}2F", "\u{FF05}41", "\u{FF05}", "\u{FF05}2E", "\u{FF05}2E\u{FF05}2E",
    ])
    func newNameThatNoObjectCanHaveIsRefused(name: String) async throws {
        let bench = Bench()
        #expect(await failure { try await bench.write(name, "x") }?.word == "invalidArgument")
        #expect(bench.store.names == [])
    }

    @Test func fileCannotBecomeItsFoldersPlaceholder() async throws {
        let bench = Bench(objects: [("d/f", "x"), ("g", "y")])
        #expect(await failure { try await bench.write("d/\u{FF05}", "lost") }?.word == "invalidArgument")
        #expect(await failure { try await bench.rename("g", to: "d/\u{FF05}") }?.word == "invalidArgument")
        #expect(bench.store.names == ["d/f", "g"])
        try await bench.makeDirectory("d/\u{FF05}")
        try await bench.write("d/\u{FF05}/\u{FF05}2E", "kept")
        #expect(bench.stored("d//.") == "kept")
    }

    @Test func tooLongNamesAreRefused() async throws {
        let bench = Bench()
        #expect(await failure { try await bench.write(String(repeating: "x", count: 256), "") }?.word == "nameTooLong")
        let segment = String(repeating: "y", count: 250)
        var path = segment
        for _ in 0..<4 {
            try await bench.makeDirectory(path)
            path += "/" + segment
        }
        #expect(await failure { try await bench.makeDirectory(path) }?.word == "nameTooLong")
    }
}
