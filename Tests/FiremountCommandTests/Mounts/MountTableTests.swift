import Testing

@testable import firemount

struct MountTableTests {
    private let table = MountTable(
        parsing: #"""
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            40 22 0:45 / /mnt/b rw,nosuid shared:9 master:2 - fuse.firemount gs://bucket/p rw,user_id=1000,group_id=7
            41 22 0:46 / /mnt/with\040space rw - fuse.firemount gs://b\134c rw,user_id=0
            42 40 0:47 / /mnt/b rw - tmpfs tmpfs rw
            broken line
            """#)

    @Test func fieldsAreFoundBehindTheOptionalOnes() {
        #expect(
            table.entries[1]
                == .init(
                    device: "0:45", mountPoint: "/mnt/b", type: "fuse.firemount", source: "gs://bucket/p", userID: 1_000
                ))
        #expect(table.entries.count == 4)
    }

    @Test func escapesAreUndone() {
        #expect(table.entry(at: "/mnt/with space")?.source == #"gs://b\c"#)
    }

    @Test func theLaterOfTwoMountsIsSeen() {
        #expect(table.entry(at: "/mnt/b")?.type == "tmpfs")
        #expect(table.entry(at: "/mnt") == nil)
    }

    @Test func onlyOursIsOurs() {
        #expect(table.entries.map(\.isFiremount) == [false, true, true, false])
    }

    @Test func theSystemsOwnTableHasARoot() throws {
        #expect(try MountTable.current().entry(at: "/") != nil)
    }
}
