import Foundation
import Testing

/// Somebody else changes the bucket: bytes of two versions never meet, and nobody's version is overwritten unseen.
@Suite(.mounted(options: MountedBucket.watchfulOptions)) struct OtherClientsTests {
    /// Longer than the mounts' time to live for metadata.
    static let untilExpired = "sleep 2.3"

    @Test(arguments: Server.allCases)
    func aReplacedFileIsReadWholeOldOrWholeNew(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        let versions = [
            "first version", "the second, longer version", "3rd", String(repeating: "long ", count: 40_000),
        ]
        try folder.bucket.put(folder.object("file"), versions[0])
        for version in versions.dropFirst() {
            try folder.run("cat \"$F/file\" >\"$T/before\"")
            try folder.bucket.put(folder.object("file"), version)
            for _ in 0..<3 {
                let read = try folder.run("cat \"$F/file\"")
                #expect(versions.contains(read), "\(read.count) bytes: \(read.prefix(60))")
            }
            #expect(try folder.run("\(Self.untilExpired); cat \"$F/file\"; ") == version)
        }
    }

    @Test(arguments: Server.allCases)
    func aHandleThatHasReadNeverMixesVersions(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        let size = 40_000_000
        try folder.bucket.put(folder.object("file"), Data(repeating: UInt8(ascii: "o"), count: size))
        try folder.run(
            """
            python3 - "$F/file" '\(uploadURL(of: folder, "file"))' <<'PYTHON'
            import errno, os, sys, urllib.request
            path, url = sys.argv[1:]
            file = os.open(path, os.O_RDONLY)
            assert os.pread(file, 4096, 0) == b"o" * 4096
            urllib.request.urlopen(url, data=b"short").read()
            for offset in list(range(0, \(size), 3_000_000)) + [\(size) - 4096]:
                try: got = os.pread(file, 4096, offset)
                except OSError as problem:
                    assert problem.errno == errno.ESTALE, problem
                else:
                    assert got == b"o" * len(got), (offset, got[:20])
                    assert len(got) in (0, 4096), (offset, len(got))
            os.close(file)
            PYTHON
            \(Self.untilExpired)
            expect "$(cat "$F/file")" short
            """)
    }

    @Test(arguments: Server.allCases)
    func aHandleThatHasReadNothingFollowsTheNewVersion(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        for (old, new) in [("old", "new and longer"), ("old and longer", "new")] {
            try folder.bucket.put(folder.object(new), old)
            let read = try folder.run(
                """
                python3 - "$F/\(new)" '\(uploadURL(of: folder, new))' <<'PYTHON'
                import os, sys, time, urllib.request
                path, url = sys.argv[1:]
                early, late = os.open(path, os.O_RDONLY), os.open(path, os.O_RDONLY)
                urllib.request.urlopen(url, data=b"\(new)").read()
                print(os.pread(early, 4096, 0).decode())
                time.sleep(2.3); os.stat(path)
                print(os.pread(late, 4096, 0).decode())
                PYTHON
                """)
            let parts = read.split(separator: "\n")
            #expect(parts.count == 2 && parts.allSatisfy { $0 == old || $0 == new }, "\(read)")
        }
    }

    @Test(arguments: Server.allCases)
    func theSecondOfTwoWritersIsToldAndTheFirstVersionStays(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        try folder.bucket.put(folder.object("file"), "original")
        try folder.run(
            """
            python3 - "$F/file" '\(uploadURL(of: folder, "file"))' <<'PYTHON'
            import errno, os, sys, urllib.request
            path, url = sys.argv[1:]
            file = os.open(path, os.O_RDWR)
            os.pwrite(file, b"ours", 0)
            urllib.request.urlopen(url, data=b"theirs").read()
            try: os.close(file)
            except OSError as problem: assert problem.errno in (errno.ESTALE, errno.EIO), problem
            else: sys.exit("the conflict went unnoticed")
            PYTHON
            """)
        #expect(try folder.bucket.text(folder.object("file")) == "theirs")
        try folder.run("\(Self.untilExpired); expect \"$(cat \"$F/file\")\" theirs; echo next >\"$F/file\"")
        #expect(try folder.bucket.text(folder.object("file")) == "next\n")
    }

    @Test(arguments: Server.allCases)
    func aChangeOfMetadataAloneIsNoConflict(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        try folder.bucket.put(folder.object("file"), "original")
        let url = "\(folder.bucket.server)/storage/v1/b/\(folder.bucket.bucket)/o/\(folder.name)%2Ffile"
        try folder.run(
            """
            exec 3>>"$F/file"
            printf ' and more' >&3
            curl -sf -o /dev/null -X PATCH -H 'Content-Type: application/json' \
                -d '{"metadata":{"colour":"red"}}' '\(url)'
            exec 3>&-
            """)
        #expect(try folder.bucket.text(folder.object("file")) == "original and more")
    }

    @Test(arguments: Server.allCases)
    func newFilesShowWithinTheTimesToLive(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run("[ ! -e \"$F/new\" ]; expect \"$(ls \"$F\")\" ''")
        try folder.bucket.put(folder.object("new"), "content")
        try folder.run("sleep 1.3; expect \"$(cat \"$F/new\")\" content; sleep 1; expect \"$(ls \"$F\")\" new")
    }

    @Test(arguments: Server.allCases)
    func aFolderEmptiedPartlyByOthersCanBeRemoved(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run("mkdir \"$F/d\"; cd \"$F/d\"; touch one two three; ls -l")
        try folder.bucket.delete(folder.object("d/two"))
        try folder.run("rm -r \"$F/d\"; [ ! -e \"$F/d\" ]")
        #expect(try folder.bucket.list(folder.object("d")).isEmpty)
    }

    @Test(arguments: Server.allCases)
    func twoMountsSeeEachOthersChanges(server: Server) throws {
        let here = try Mounts.folder(on: server)
        try here.seenAfresh { there in
            try here.run("echo one >\"$F/file\"; mkdir \"$F/d\"")
            try there.run(
                "\(Self.untilExpired); expect \"$(cat \"$F/file\")\" one; [ -d \"$F/d\" ]; echo two >\"$F/file\"")
            try here.run("\(Self.untilExpired); expect \"$(cat \"$F/file\")\" two; mv \"$F/file\" \"$F/d/moved\"")
            try there.run(
                "\(Self.untilExpired); [ ! -e \"$F/file\" ]; expect \"$(cat \"$F/d/moved\")\" two; rm -r \"$F/d\"")
            try here.run("\(Self.untilExpired); expect \"$(ls -A \"$F\")\" ''")
        }
    }

    @Test(arguments: Server.allCases)
    func readingWhileAnotherMountWritesNeverFails(server: Server) throws {
        let here = try Mounts.folder(on: server)
        try here.run("head -c 300000 /dev/zero | tr '\\0' a >\"$F/file\"")
        try here.seenAfresh { there in
            try here.run(
                """
                (for letter in b c d e; do head -c 300000 /dev/zero | tr '\\0' $letter >"$F/file"; sleep 0.3; done) &
                for turn in $(seq 25); do
                    content=$(python3 - '\(there.path)/file' <<'PYTHON'
                import errno, sys
                try: data = open(sys.argv[1], "rb").read()
                except OSError as problem:
                    assert problem.errno in (errno.ENOENT, errno.ESTALE), problem
                    sys.exit(0)
                letters = set(data); print(chr(data[0]) if data else "", len(letters), len(data))
                PYTHON
                    )
                    case $content in ''|'? 1 300000'|[a-e]' 1 300000'|' 0 0') ;; *) fail "mixed: $content";; esac
                    sleep 0.05
                done
                wait
                """)
        }
    }

    @Test func tailFollowsALogThatAnotherClientReplaces() throws {
        let folder = try Mounts.prefix(on: .local)
        try folder.bucket.put(folder.object("log"), "one\n")
        let url = "\(uploadURL(of: folder, "log"))"
        try folder.run(
            """
            tail -n +1 -s 0.2 -F "$F/log" >"$T/followed" 2>"$T/said.F" & byName=$!
            tail -n +1 -s 0.2 -f "$F/log" >"$T/held" 2>"$T/said.f" & byHandle=$!
            trap 'kill $byName $byHandle 2>/dev/null || true' EXIT
            until grep -q one "$T/followed" && grep -q one "$T/held"; do sleep 0.05; done
            printf 'one\\ntwo\\n' | curl -sf -o /dev/null --data-binary @- '\(url)'
            until grep -q two "$T/followed"; do sleep 0.05; done
            # Whoever holds the old version is told, or sees the new one.
            until grep -q two "$T/held" || grep -q 'log' "$T/said.f"; do sleep 0.05; done
            """, limit: .seconds(30))
    }

    @Test(arguments: Server.allCases)
    func storedBytesOfCompressedObjectsAreShownAsTheyAre(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        let plain = "\(folder.scratch.path)/plain"
        try folder.run("mkdir -p \"$T\"; seq 1 10000 >'\(plain)'; gzip -nk '\(plain)'", limit: .seconds(10))
        let compressed = try Data(contentsOf: URL(fileURLWithPath: plain + ".gz"))
        try folder.bucket.put(
            folder.object("page"), compressed, contentType: "text/plain", metadata: ["contentEncoding": "gzip"])
        try folder.run(
            """
            expect "$(stat -c %s "$F/page")" "$(stat -c %s "$T/plain.gz")"
            cmp "$F/page" "$T/plain.gz"
            zcat <"$F/page" | cmp - "$T/plain"
            """)
    }

    /// Where a plain POST replaces the object, without the child process that curl would be: a process that begins
    /// closes the descriptors it inherits, and closing stores.
    private func uploadURL(of folder: MountedFolder, _ file: String) -> String {
        let name = "\(folder.name)%2F\(file.replacing(" ", with: "%20"))"
        return "\(folder.bucket.server)/upload/storage/v1/b/\(folder.bucket.bucket)/o?uploadType=media&name=\(name)"
    }
}
