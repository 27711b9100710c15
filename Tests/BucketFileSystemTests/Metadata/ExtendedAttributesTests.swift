import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct ExtendedAttributesTests {
    @Test func headersAndCustomMetadataAreSetWithoutTheBytes() async throws {
        let bench = Bench(objects: [("f.txt", "text")])
        let file = try await bench.find("f.txt").inode
        bench.store.resetCounts()
        try await bench.set("user.mime_type", "text/x-special", of: file)
        try await bench.set("user.storage.cache_control", "no-cache", of: file)
        try await bench.set("user.colour", "red", of: file)
        try await bench.settle(file)
        #expect(bench.store.counts[.insert] == nil)
        let headers = try #require(bench.store.object("f.txt")?.headers)
        #expect(headers.contentType == "text/x-special")
        #expect(headers.cacheControl == "no-cache")
        #expect(headers.custom["colour"] == "red")
        #expect(try await bench.names(of: file) == ["user.mime_type", "user.storage.cache_control", "user.colour"])
        #expect(try await bench.value("user.colour", of: file) == "red")
    }

    @Test func whatIsSetOnAFileBeingWrittenGoesAlongWithItsUpload() async throws {
        let bench = Bench()
        let handle = try await bench.openForWriting("f.txt")
        let file = try await bench.find("f.txt").inode
        try bench.write(handle, "text")
        try await bench.set("user.colour", "red", of: file)
        try await bench.set("user.mime_type", "text/x-special", of: file)
        #expect(try await bench.value("user.colour", of: file) == "red")
        #expect(bench.store.requestCount == bench.store.counts[.list])
        try await bench.close(handle)
        #expect(bench.store.counts[.insert] == 1)
        #expect(bench.store.counts[.patch] == nil)
        #expect(bench.store.object("f.txt")?.headers.custom["colour"] == "red")
        #expect(bench.store.object("f.txt")?.headers.contentType == "text/x-special")
    }

    @Test func attributesAreRemoved() async throws {
        let bench = Bench()
        bench.store.put(
            "f.txt", [1],
            headers: ObjectHeaders(contentType: "text/x-special", cacheControl: "no-cache", custom: ["colour": "red"]))
        let file = try await bench.find("f.txt").inode
        for name in ["user.mime_type", "user.storage.cache_control", "user.colour"] {
            try await bench.files.removeExtendedAttribute(Array(name.utf8), of: file)
        }
        try await bench.settle(file)
        let headers = try #require(bench.store.object("f.txt")?.headers)
        #expect(headers.contentType == "text/plain")
        #expect(headers.cacheControl == nil)
        #expect(headers.custom["colour"] == nil)
        #expect(try await bench.names(of: file).isEmpty)
        let error = await failure { try await bench.files.removeExtendedAttribute(Array("user.colour".utf8), of: file) }
        #expect(error?.word == "noSuchAttribute")
    }

    @Test func aTypeThatTheNameSuggestsIsNotListed() async throws {
        let bench = Bench()
        bench.store.put("a.txt", [1], headers: ObjectHeaders(contentType: "text/plain"))
        bench.store.put("b.txt", [1], headers: ObjectHeaders(contentType: "text/x-special"))
        #expect(try await bench.names(of: try await bench.find("a.txt").inode).isEmpty)
        #expect(try await bench.names(of: try await bench.find("b.txt").inode) == ["user.mime_type"])
    }

    @Test func creatingAndReplacingAreToldApart() async throws {
        let bench = Bench(objects: [("f", "x")])
        let file = try await bench.find("f").inode
        func set(_ value: String, _ condition: FileSystem.AttributeCondition) async -> String? {
            await failure {
                try await bench.files.setExtendedAttribute(
                    Array("user.k".utf8), to: Array(value.utf8), if: condition, of: file)
            }?.word
        }
        #expect(await set("1", .mustExist) == "noSuchAttribute")
        #expect(await set("1", .mustNotExist) == nil)
        #expect(await set("2", .mustNotExist) == "exists")
        #expect(await set("3", .mustExist) == nil)
        #expect(try await bench.value("user.k", of: file) == "3")
    }

    @Test(arguments: [
        ("user.storage.generation", "1", "notPermitted"), ("user.storage.md5", "1", "notPermitted"),
        ("user.storage.status", "1", "notPermitted"), ("user.storage.unknown", "1", "unsupported"),
        ("user.goog-reserved-file-mtime", "1", "notPermitted"), ("user.gcsfuse_mtime", "1", "notPermitted"),
        ("user.firemount_ctime", "1", "notPermitted"), ("user.firebaseStorageDownloadTokens", "1", "notPermitted"),
        ("user.mime_type", "a\nb", "invalidArgument"), ("user.mime_type", "", "invalidArgument"),
        ("user.k", String(repeating: "x", count: 9_000), "attributeTooLarge"),
        ("user.k", String(repeating: "x", count: 8_000), "attributesFull"),
        ("user.storage.control", "nonsense", "invalidArgument"),
    ])
    func whatCannotBeSetIsRefused(name: String, value: String, word: String) async throws {
        let bench = Bench()
        bench.store.put("f", [1], headers: ObjectHeaders(custom: ["other": String(repeating: "y", count: 500)]))
        let file = try await bench.find("f").inode
        bench.store.resetCounts()
        #expect(await failure { try await bench.set(name, value, of: file) }?.word == word)
        #expect(bench.store.requestCount == 0)
    }

    @Test func bytesThatAreNoTextAreRefused() async throws {
        let bench = Bench(objects: [("f", "x")])
        let file = try await bench.find("f").inode
        let error = await failure {
            try await bench.files.setExtendedAttribute(Array("user.k".utf8), to: [0xFF, 0xFE], if: .none, of: file)
        }
        #expect(error?.word == "invalidArgument")
    }

    @Test func bookkeepingIsHidden() async throws {
        let bench = Bench()
        bench.store.put(
            "f", [1],
            headers: ObjectHeaders(custom: ["goog-reserved-file-mtime": "1", "firemount_ctime": "x", "mtime": "y"]))
        let file = try await bench.find("f").inode
        #expect(try await bench.names(of: file).isEmpty)
        #expect(await failure { try await bench.value("user.mtime", of: file) }?.word == "noSuchAttribute")
    }

    @Test func aFolderKeepsItsAttributesInItsPlaceholder() async throws {
        let bench = Bench(objects: [("d/f", "x")])
        let folder = try await bench.find("d").inode
        try await bench.set("user.colour", "red", of: folder)
        try await bench.settle(folder)
        #expect(bench.store.object("d/")?.headers.custom["colour"] == "red")
        #expect(try await bench.value("user.colour", of: folder) == "red")
        #expect(await failure { try await bench.set("user.colour", "red", of: .root) }?.word == "unsupported")
    }
}

extension Bench {
    func set(_ name: String, _ value: String, of inode: InodeNumber) async throws {
        try await files.setExtendedAttribute(Array(name.utf8), to: Array(value.utf8), if: .none, of: inode)
    }

    func value(_ name: String, of inode: InodeNumber) async throws -> String {
        String(decoding: try await files.extendedAttribute(Array(name.utf8), of: inode), as: UTF8.self)
    }

    func names(of inode: InodeNumber) async throws -> [String] {
        try await files.extendedAttributeNames(of: inode).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Until the bucket has what was set.
    func settle(_ inode: InodeNumber) async throws { try await files.sendChanges(of: inode) }
}
