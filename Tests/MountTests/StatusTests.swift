import Foundation
import Testing

/// Uploads that leave while they are written, and the commands that show and steer them.
struct StatusTests {
    @Test(arguments: Server.allCases)
    func aLargeFileLeavesWhileItIsWrittenAndIsWholeAtItsClose(server: Server) throws {
        let mounted = try MountedBucket(on: server)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run(
            """
            head -c 50000000 /dev/urandom >"$T/big"
            cp "$T/big" "$F/copied"; cp -p "$T/big" "$F/kept"
            { head -c 20000000 "$T/big"; sleep 1; tail -c +20000001 "$T/big"; } >"$F/slow"
            for name in copied kept slow; do cmp "$T/big" "$F/$name"; done
            expect "$(stat -c %Y "$F/kept")" "$(stat -c %Y "$T/big")" 'a modification time of'
            # It goes back to the beginning when all is written.
            python3 - "$T/big" "$F/patched" <<'PYTHON'
            import sys
            data = bytearray(open(sys.argv[1], "rb").read())
            with open(sys.argv[2], "wb", buffering=0) as file:
                for start in range(0, len(data), 1 << 20): file.write(data[start:start + (1 << 20)])
                file.seek(4); file.write(b"HEAD")
            data[4:8] = b"HEAD"
            open(sys.argv[1], "wb").write(data)
            PYTHON
            """)
        let local = try Data(contentsOf: URL(fileURLWithPath: "\(folder.scratch.path)/big"))
        let stored = try #require(try folder.bucket.get(folder.object("patched")))
        #expect((stored == local) as Bool)
        if server == .local {
            let began = try mounted.bucket.requests().counts["storage.objects.insert.chunk"] ?? 0
            #expect(began >= 4 * 2, "\(began) requests: nothing left before its file was closed")
        }
    }

    @Test func statusShowsUploadsAndTheyArePausedResumedAndCancelled() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run(
            """
            firemount='\(Programs.firemount)'
            expect "$("$firemount" status "$M")" "gs://test-bucket on $M: no uploads"
            # Other tests' mounts may be dead, and its status says so.
            ("$firemount" status || true) | grep -qF "on $M:" || fail 'the mount is not in the list'
            "$firemount" pause "$M"
            (echo small >"$F/a"; echo $? >"$T/a.status") & writer=$!
            until "$firemount" status "$M" | grep -q 'paused.*/a$'; do sleep 0.1; done
            "$firemount" status --json "$M" | python3 -c '
            import json, sys
            mount, = json.load(sys.stdin)
            transfer, = mount["status"]["transfers"]
            assert mount["status"]["paused"] and transfer["total"] == 6 and transfer["state"] == "paused", mount
            '
            "$firemount" resume "$M"; wait $writer
            expect "$(cat "$T/a.status") $(cat "$F/a")" '0 small'

            "$firemount" pause "$M"
            python3 - "$F/b" <<'PYTHON' & writer=$!
            import errno, os, sys
            file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
            os.write(file, b"gone")
            try:
                os.close(file)
                sys.exit("closing should have failed")
            except OSError as error:
                assert error.errno == errno.ECANCELED, error
            PYTHON
            until id=$("$firemount" status "$M" | sed -n 's/^  *\\([0-9][0-9]*\\) .*\\/b$/\\1/p'); [ -n "$id" ]; do
                sleep 0.1
            done
            "$firemount" resume "$M" 999999 2>"$T/errors" && fail 'there is no such upload'
            grep -q 'no upload 999999' "$T/errors"
            "$firemount" cancel "$M" "$id"; wait $writer
            "$firemount" resume "$M"
            fails "$firemount" pause "$T"
            fails "$firemount" status "$T"
            """)
        #expect(try mounted.bucket.list("t1/").contains("t1/a"))
        #expect(try !mounted.bucket.list("t1/").contains("t1/b"), "what was cancelled is not stored after all")
    }

    @Test func whatIsCancelledTooLateIsStoredAndToldSo() throws {
        // While the server is stopped nothing must be asked of it but to store the file.
        let mounted = try MountedBucket(on: .local, options: ["--metadata-ttl", "1h", "--timeout", "10m"])
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run("echo old >\"$F/file\"")
        let server = try #require(mounted.server.processID)
        defer { kill(server, SIGCONT) }
        try folder.run(
            """
            freeze \(server)
            (cp /etc/hostname "$F/file") & copying=$!
            until '\(Programs.firemount)' status "$M" | grep -q '100 %.*/file'; do sleep 0.02; done
            id=$('\(Programs.firemount)' status "$M" | sed -n 's|^  *\\([0-9][0-9]*\\) .*/file$|\\1|p')
            '\(Programs.firemount)' cancel "$M" "$id"; kill -CONT \(server)
            wait $copying || fail 'the bucket has it, and the copy has failed'
            cmp /etc/hostname "$F/file"
            """)
        let stored = try folder.bucket.get(folder.object("file"))
        #expect(try stored == Data(contentsOf: URL(fileURLWithPath: "/etc/hostname")))
    }

    @Test func aDeadMountIsShownAsSuch() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        kill(try #require(mounted.process?.processID), SIGKILL)
        let folder = try MountedFolder(name: "", mounted: mounted)
        let outcome = try folder.attempt("'\(Programs.firemount)' status \"$M\"")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("its process is gone"))
    }
}
