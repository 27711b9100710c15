import Foundation
import Testing

/// The mount is killed in the middle of its work; what it had acknowledged is in the bucket, or in the journal.
@Suite(.serialized)
struct KillTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "scripts/kill-campaign.py").path

    /// The long campaign is the same script with more runs: `scripts/kill-campaign.py --runs 300 [--write-back]`.
    @Test(arguments: [[], ["--write-back"]])
    func nothingAcknowledgedIsLostByAKill(options: [String]) throws {
        let outcome = try Tool().run(
            ["python3", Self.script, "--runs", "4", "--firemount", Programs.firemount] + options)
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains(" 0 lost"), "\(outcome.output)")
    }

    @Test func aFullStagingDiskFailsTheWriteAndStoresNoPart() throws {
        let disk = try TemporaryFolder("full")
        let cache = try disk.subfolder("disk")
        #expect(try Tool().run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", cache]).status == 0)
        defer { _ = try? Tool().run(["umount", "-l", cache]) }
        let mounted = try MountedBucket(on: .local, options: ["--cache-dir", cache + "/cache"])
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run("echo old >\"$F/kept\"")
        let outcome = try Tool().run(["dd", "if=/dev/zero", "of=\(folder.path)/big", "bs=1M", "count=16"])
        #expect(outcome.status != 0)
        #expect(outcome.output.contains("No space left on device"), "\(outcome.output)")
        let edit = try Tool().run(["dd", "if=/dev/zero", "of=\(folder.path)/kept", "bs=1M", "count=16"])
        #expect(edit.status != 0)
        try folder.run(
            """
            [ ! -e "$F/big" ] || { echo "a part of the file is there"; exit 1; }
            expect "$(cat "$F/kept")" old
            echo again >"$F/small" && expect "$(cat "$F/small")" again
            """)
        #expect(mounted.unmount() == 0, "\(mounted.logs)")
    }

    /// Nothing fits any more, the journal's own rows not either.
    @Test func aDiskThatIsFullToTheLastBlockRefusesWritesAndTheMountOutlivesIt() throws {
        let disk = try TemporaryFolder("full-to-the-last")
        let cache = try disk.subfolder("disk")
        #expect(try Tool().run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", cache]).status == 0)
        defer { _ = try? Tool().run(["umount", "-l", cache]) }
        let mounted = try MountedBucket(on: .local, options: ["--cache-dir", cache])
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run(
            """
            echo one >"$F/kept"; mkdir "$F/d"; echo before >"$F/held"
            exec 7>>"$F/held"
            dd if=/dev/zero of='\(cache)/filler' bs=4k 2>/dev/null || true
            refused() { local said; said=$("$@" 2>&1) && fail "$* should fail"; [[ $said == *'No space left'* ]]; }
            refused cp /etc/hostname "$F/new"
            refused dd if=/etc/hostname of="$F/kept" oflag=append conv=notrunc
            refused bash -c 'echo more >&7'
            exec 7>&- || true
            # What needs no room goes on.
            touch -d 2001-01-01 "$F/kept"; mv "$F/kept" "$F/moved"; rmdir "$F/d"; mkdir "$F/e"
            expect "$(cat "$F/moved" "$F/held")" $'one\nbefore'
            expect "$(echo $(ls "$F"))" 'e held moved'

            rm '\(cache)/filler'
            cp /etc/hostname "$F/new"; cmp /etc/hostname "$F/new"
            echo two >>"$F/moved"; echo after >>"$F/held"
            """)
        #expect(try folder.bucket.text(folder.object("moved")) == "one\ntwo\n")
        #expect(try folder.bucket.text(folder.object("held")) == "before\nafter\n")
        #expect(mounted.unmount() == 0, "\(mounted.logs)")
    }
}
