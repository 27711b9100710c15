import Foundation
import Testing

/// What was acknowledged is in the bucket, or in the journal, whatever becomes of the program that wrote it and of the
/// mount.
struct DurabilityTests {
    struct Mode: CustomTestStringConvertible, Sendable {
        let server: Server
        var options: [String] = []

        var testDescription: String { "\(server) \(options.joined(separator: " "))" }

        static let all = [
            Mode(server: .local), Mode(server: .local, options: ["--write-back"]), Mode(server: .firebase),
        ]
    }

    /// Writer and mount are killed at the moment at which `fsync` has answered.
    @Test(arguments: Mode.all)
    func whatWasSynchronizedIsInTheBucketWhateverIsKilledThen(mode: Mode) throws {
        let mounted = try MountedBucket(on: mode.server, options: mode.options)
        defer { mounted.tearDown() }
        let folder = try mounted.newPrefix()
        try folder.bucket.put(folder.object("old"), String(repeating: "o", count: 100_000))
        try folder.run(
            """
            python3 - "$F" <<'PYTHON' & writer=$!
            import os, signal, sys
            folder = sys.argv[1]
            new = os.open(f"{folder}/new", os.O_CREAT | os.O_WRONLY)
            os.write(new, b"n" * 100_000)
            os.fsync(new)
            old = os.open(f"{folder}/old", os.O_WRONLY)
            os.pwrite(old, b"edited", 50_000)
            os.fdatasync(old)
            os.mkdir(f"{folder}/made")
            os.rename(f"{folder}/new", f"{folder}/moved")
            # What comes after it is not promised, and must not undo it.
            os.pwrite(new, b"later", 10)
            os.kill(os.getpid(), signal.SIGSTOP)
            PYTHON
            until_stopped $writer
            kill -9 \(try #require(mounted.process?.processID)) $writer
            wait $writer || true
            """)
        let edited = String(repeating: "o", count: 50_000) + "edited" + String(repeating: "o", count: 49_994)
        #expect((try folder.bucket.text(folder.object("old")) == edited) as Bool)
        let moved = try folder.bucket.text(folder.object("moved"))
        #expect((moved == String(repeating: "n", count: 100_000)) as Bool)
        #expect(try folder.bucket.list(folder.object("")).contains(folder.object("made/")))
    }

    @Test(arguments: Mode.all)
    func unmountingRightAfterALargeCopyLosesNothing(mode: Mode) throws {
        let mounted = try MountedBucket(on: mode.server, options: mode.options)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run(
            """
            head -c 60000000 /dev/urandom >"$T/big"
            for small in $(seq 20); do echo $small >"$T/small$small"; done
            cp "$T"/* "$F/"
            '\(Programs.firemount)' unmount "$M"
            if mountpoint -q "$M"; then fail 'still mounted'; fi
            """)
        let local = try Data(contentsOf: URL(fileURLWithPath: "\(folder.scratch.path)/big"))
        let stored = try #require(try folder.bucket.get(folder.object("big")))
        #expect((stored == local) as Bool)
        for small in 1...20 { #expect(try folder.bucket.text(folder.object("small\(small)")) == "\(small)\n") }
        #expect(mounted.unmount() == 0)
    }

    /// Whoever comes second loses nothing but the race.
    @Test func theLosersBytesOfAConflictAreKeptAndFindAnotherName() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newPrefix()
        try folder.bucket.put(folder.object("file"), "original")
        try loseRace(in: folder, openingFor: "O_TRUNC")
        let outcome = try folder.run(
            """
            recover() { '\(Programs.firemount)' recover "$@" --cache-dir '\(mounted.cacheDirectory)'; }
            recover | grep 'conflict.*/file'
            id=$(recover | sed -n 's/ .*conflict.*//p')
            recover export "$id" "$T/ours"; cat "$T/ours"; echo
            recover store "$id" --as '\(folder.object("ours"))'
            recover
            """)
        #expect(outcome.contains("ours\n"), "\(outcome)")
        #expect(outcome.contains("Nothing is waiting"), "\(outcome)")
        #expect(try folder.bucket.text(folder.object("file")) == "theirs")
        #expect(try folder.bucket.text(folder.object("ours")) == "ours")
    }

    /// What a part of the file was written over is gone with the other client's version.
    @Test func theLosersPartOfAConflictCanBeExported() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newPrefix()
        let original = String(repeating: "original\n", count: 600_000)
        try folder.bucket.put(folder.object("file"), original)
        try loseRace(in: folder, openingFor: "O_APPEND")
        let outcome = try folder.run(
            """
            recover() { '\(Programs.firemount)' recover "$@" --cache-dir '\(mounted.cacheDirectory)' 2>&1; }
            id=$(recover | sed -n 's/ .*conflict.*//p')
            recover export --anonymous "$id" "$T/whole" && exit 1
            [ ! -e "$T/whole" ]
            recover export --written-only "$id" "$T/ours"
            stat -c %s "$T/ours"; tail -c 5 "$T/ours" | tr '\\0' Z; echo
            """)
        #expect(outcome.contains("--written-only"), "\(outcome)")
        #expect(outcome.contains("5400000-5400003"), "\(outcome)")
        #expect(outcome.contains("5400004\nZours\n"), "\(outcome)")
        #expect(try folder.bucket.text(folder.object("file")) == "theirs")
    }

    /// Writes `ours` to `file`, which another client replaces before it is closed.
    private func loseRace(in folder: MountedFolder, openingFor flag: String) throws {
        let url = "\(folder.bucket.server)/upload/storage/v1/b/\(folder.bucket.bucket)/o?uploadType=media"
        try folder.run(
            """
            python3 - "$F/file" '\(url)&name=\(folder.name)%2Ffile' <<'PYTHON'
            import errno, os, sys, urllib.request
            file = os.open(sys.argv[1], os.O_WRONLY | os.\(flag))
            os.write(file, b"ours")
            urllib.request.urlopen(sys.argv[2], data=b"theirs").read()
            try: os.close(file)
            except OSError as problem: assert problem.errno == errno.ESTALE, problem
            else: sys.exit("the conflict went unnoticed")
            PYTHON
            """)
    }

    /// Each mount has a journal of its own, also where they share the directory that holds them.
    @Test func twoMountsOfOneBucketAndCacheDirectoryShareNoJournal() throws {
        let cache = try TemporaryFolder("shared-cache")
        let options = ["--write-back", "--cache-dir", try cache.subfolder("cache")]
        let one = try MountedBucket(on: .local, options: options)
        defer { one.tearDown() }
        let other = try MountedBucket(again: one, options: options)
        defer { other.tearDown() }
        let (here, there) = (try one.newPrefix(), try other.newPrefix())
        let journals = { try FileManager.default.contentsOfDirectory(atPath: "\(cache.path)/cache/staging").count }
        #expect(try journals() == 2)
        // A file that is open and not closed is in the journal alone.
        let hold = """
            hold() {
                python3 - "$1" <<'PYTHON' &
            import os, signal, sys
            file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
            os.write(file, b"held")
            os.kill(os.getpid(), signal.SIGSTOP)
            os.close(file)
            PYTHON
                until_stopped $!
            }

            """
        let theirs = "\(other.directory)/theirs"
        let listed = try here.run(
            hold + """
                hold "$M/ours"; ours=$!
                hold '\(theirs)'; theirs=$!
                kill -9 \(try #require(one.process?.processID)) $ours
                wait $ours || true
                umount -l "$M"
                '\(Programs.firemount)' mount gs://test-bucket "$M" --anonymous --endpoint '\(one.server.url)' \
                    --cache-dir '\(cache.path)/cache'
                kill -CONT $theirs; wait $theirs
                '\(Programs.firemount)' recover --cache-dir '\(cache.path)/cache'
                '\(Programs.firemount)' unmount "$M"
                """)
        #expect(try there.bucket.text("theirs") == "held", "the other mount goes on")
        #expect(listed.contains("/ours"), "\(listed)")
        #expect(!listed.contains("/theirs"), "\(listed)")
    }
}
