import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// What `firemount status` reads, and what `pause`, `resume` and `cancel` speak through.
struct MountStatusTests {
    private let bench = Bench()

    private func status() async throws -> String {
        let value = try await bench.files.extendedAttribute(Array("user.storage.status".utf8), of: .root)
        return String(decoding: value, as: UTF8.self)
    }

    private func read(_ attribute: String) async throws {
        _ = try await bench.files.extendedAttribute(Array(attribute.utf8), of: .root)
    }

    private func command(_ line: String) async throws {
        try await bench.files.setExtendedAttribute(
            Array("user.storage.control".utf8), to: Array(line.utf8), if: .none, of: .root)
    }

    @Test func aMountAtRestSaysSo() async throws {
        #expect(
            try await status()
                == #"{"paused":false,"transfers":[],"moreTransfers":0,"unsaved":[],"moreUnsaved":0,"kept":0,"#
                + #""journal":"\#(bench.files.journal.directory.path)"}"#)
    }

    @Test func anUploadUnderWayIsListedAndCommanded() async throws {
        bench.store.hold(.insert)
        let handle = try await bench.openForWriting("a \"b\"\u{1}")
        try bench.write(handle, "bytes")
        async let closed: Void = bench.close(handle)
        await bench.store.waitUntilHeld(.insert, count: 1)
        let shown = try await status()
        #expect(shown.contains(#""id":1,"object":"a \"b\"\u0001","state":"running","sent":0,"confirmed":0,"total":5"#))
        try await read("user.storage.pause.1")
        #expect(try await status().contains(#""state":"paused""#))
        try await command("resume 1")
        await bench.store.waitUntilHeld(.insert, count: 1)
        bench.store.release(.insert)
        try await closed
        #expect(bench.stored("a \"b\"\u{1}") == "bytes")
    }

    @Test func everythingIsPausedAtOnce() async throws {
        try await command("pause")
        #expect(try await status().hasPrefix(#"{"paused":true"#))
        try await read("user.storage.resume")
        #expect(try await status().hasPrefix(#"{"paused":false"#))
    }

    @Test(arguments: ["", "stop", "pause x", "cancel 1 2", "resume -1"])
    func otherLinesAreRefused(line: String) async throws {
        #expect(await failure { try await command(line) }?.word == "invalidArgument")
    }

    @Test func anUploadThatIsOverCannotBeCommanded() async throws {
        #expect(await failure { try await read("user.storage.cancel.7") }?.word == "notFound")
        #expect(await failure { try await command("cancel 7") }?.word == "notFound")
    }

    @Test func onlyTheRootIsCommanded() async throws {
        bench.store.put("f")
        let inode = try await bench.find("f").inode
        for name in ["user.storage.status", "user.storage.pause", "user.storage.cancel.1"] {
            let error = await failure { _ = try await bench.files.extendedAttribute(Array(name.utf8), of: inode) }
            #expect(error?.word == "noSuchAttribute")
        }
    }

    @Test func aListThatIsTooLongForAnAttributeIsCutAndCounted() {
        let registry = TransferRegistry()
        for number in 0..<1_000 {
            _ = registry.begin(ObjectName("\(number)" + String(repeating: "x", count: 200)), at: Timestamp(seconds: 0))
        }
        let text = MountStatus(isPaused: false, transfers: registry.entries, unsaved: [], kept: 0, journal: "").json
        #expect(text.utf8.count < 65_536)
        #expect(text.contains(#""id":1,"#))
        let left = text.firstMatch(of: /"moreTransfers":([0-9]+)/).flatMap { Int($0.1) } ?? 0
        #expect(left + text.matches(of: /"id":/).count == 1_000)
        #expect(left > 0)
    }
}
