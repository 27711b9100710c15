import Foundation
import Testing

/// Programs that write in ways of their own. What they made is compared with the bucket, byte for byte.
@Suite(.mounted([.local, .fakeGCS])) struct ProgramsTests {
    private static let servers = [Server.local, .fakeGCS]

    /// `same FOLDER NAME`: the objects below NAME are the files of the local FOLDER.
    private static func words(_ folder: MountedFolder) -> String {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "Programs/same-in-bucket.py").path
        return """
            same() {
                python3 '\(program)' '\(folder.bucket.server)' '\(folder.bucket.bucket)' '\(folder.name)/'"$2/" "$1"
            }

            """
    }

    /// 2,000 files, made by git itself; some of them packed, some loose.
    private static let makeRepository = """
        git_as() { git -c user.name=t -c user.email=t@example.com -c gc.auto=0 -C "$1" "${@:2}"; }
        python3 - "$T/origin" <<'PYTHON'
        import os, random, sys
        chance = random.Random(7)
        for number in range(2000):
            path = os.path.join(sys.argv[1], f"d{number % 40}", f"f{number}.txt")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file: file.write(chance.randbytes(chance.choice([0, 20, 500, 3000])))
        PYTHON
        git init -q -b main "$T/origin"; git_as "$T/origin" add .; git_as "$T/origin" commit -qm one

        """

    @Test(arguments: [Server.local]) func gitClonesCollectsAndChecks(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            Self.words(folder) + Self.makeRepository + """
                git clone -q "$T/origin" "$F/clone"
                expect "$(git -C "$F/clone" status --porcelain)" ''
                echo changed >"$F/clone/d1/f1.txt"; git_as "$F/clone" commit -qam two
                git_as "$F/clone" gc -q
                git -C "$F/clone" fsck --strict
                cp -r "$F/clone" "$T/clone"
                same "$T/clone" clone
                """, limit: .seconds(400))
    }

    /// What git remembers of each file is still so for a new mount: numbers, times, sizes.
    @Test func gitStatusAfterARemountReadsNoFilesContent() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run(
            Self.makeRepository + "git clone -q \"$T/origin\" \"$F/clone\"; sleep 1.1; git -C \"$F/clone\" status",
            limit: .seconds(400))
        try mounted.remount()
        try folder.bucket.forgetRequests()
        try folder.run("expect \"$(git -C \"$F/clone\" status --porcelain)\" ''")
        let read = try folder.bucket.namesRead()
        let contents = read.filter { !$0.contains("/.git/") }
        #expect(contents.isEmpty, "\(contents.count) of them, as \(contents.prefix(5))")
    }

    @Test(arguments: servers) func pipInstallsALargeWheel(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            Self.words(folder) + """
                export PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
                pip() { /usr/bin/python3 -m pip "$@"; }
                pip download --no-deps --dest "$T" numpy
                pip install --no-deps --no-compile --target "$T/site" "$T"/numpy-*.whl
                pip install --no-deps --no-compile --target "$F/site" "$T"/numpy-*.whl
                diff -r "$T/site" "$F/site"
                same "$T/site" site
                PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$F/site" /usr/bin/python3 -c 'import numpy; numpy.arange(3).sum()'
                """, limit: .seconds(400))
    }

    /// A package manager's way: each file is written under a name of its own and renamed, folders are moved into place.
    @Test(arguments: servers) func aTreeOfManySmallFilesIsWrittenByManyHands(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        let count = server == .local ? 5_000 : 500
        try folder.run(
            Self.words(folder) + """
                python3 - "$T/modules" "$F/modules" \(count) <<'PYTHON'
                import concurrent.futures, os, random, sys
                def write(root, number):
                    chance = random.Random(number)
                    folder = os.path.join(root, f"package-{number % 97}", "lib" if number % 3 else "")
                    os.makedirs(folder, exist_ok=True)
                    path = os.path.join(folder, f"m{number}.js")
                    with open(path + ".tmp", "wb") as file: file.write(chance.randbytes(chance.randrange(4000)))
                    os.rename(path + ".tmp", path)
                with concurrent.futures.ThreadPoolExecutor(16) as pool:
                    for root in sys.argv[1:3]:
                        list(pool.map(lambda number: write(root, number), range(int(sys.argv[3]))))
                PYTHON
                same "$T/modules" modules
                mv "$F/modules/package-5" "$F/modules/.staged"; mv "$F/modules/.staged" "$F/modules/package-5"
                same "$T/modules" modules
                expect "$(find "$F/modules" -name '*.js' | wc -l)" \(count)
                """, limit: .seconds(400))
        let peak = try #require(folder.mounted.process?.peakResidentBytes)
        #expect(peak < (256 + 64) << 20, "the mount held \(peak >> 20) MiB")
    }

    @Test(arguments: servers) func zipAddsToAnArchiveAndUnzipReadsIt(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            Self.words(folder) + """
                make_tree "$T/tree" 80
                (cd "$T" && zip -qry "$F/all.zip" tree)
                cd "$T"
                echo more >tree/more.txt; zip -q "$F/all.zip" tree/more.txt; zip -qd "$F/all.zip" tree/f1.txt
                rm -f tree/f1.txt
                mkdir "$F/out"; (cd "$F/out" && unzip -q ../all.zip)
                diff -r --no-dereference "$T/tree" "$F/out/tree"
                same "$T/tree" out/tree
                """)
    }

    /// The header of a film is written once its length is known: the file's beginning changes last.
    @Test(arguments: servers) func aWriterGoesBackToTheHeaderAtTheEnd(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            Self.words(folder) + """
                mkdir "$T/films" "$F/films"
                python3 - "$T/films/film.mp4" "$F/films/film.mp4" <<'PYTHON'
                import random, struct, sys
                for path in sys.argv[1:]:
                    chance = random.Random(3)
                    with open(path, "wb") as film:
                        film.write(b"\\0" * 40)
                        for frame in range(300): film.write(chance.randbytes(100_000))
                        index = film.tell()
                        film.write(b"index" * 1000)
                        film.seek(0); film.write(struct.pack(">4sQ", b"moov", index))
                        film.seek(1_000_000); film.write(b"patched")
                        film.seek(0, 2); film.write(b"end")
                PYTHON
                cmp "$T/films/film.mp4" "$F/films/film.mp4"
                same "$T/films" films
                """)
    }

    /// A lock beside the document, a backup, a new file renamed over it, the lock removed.
    @Test(arguments: servers) func anOfficeSavesWithALockBesideTheDocument(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            Self.words(folder) + """
                mkdir "$T/docs" "$F/docs"
                for D in "$T/docs" "$F/docs"; do
                    head -c 30000 /dev/zero | tr '\\0' a >"$D/text.odt"
                    (set -C; echo ",user,host,$(date +%s)" >"$D/.~lock.text.odt#")
                    fails bash -c "set -C; echo x >'$D/.~lock.text.odt#'"
                    head -c 40000 /dev/zero | tr '\\0' b >"$D/lu123.tmp"
                    cp -p "$D/text.odt" "$D/text.odt.bak"
                    mv -f "$D/lu123.tmp" "$D/text.odt"
                    rm "$D/.~lock.text.odt#"
                done
                same "$T/docs" docs
                """)
        #expect(try folder.bucket.object(folder.object("docs/text.odt"))?.contentType?.contains("opendocument") == true)
    }

    @Test(arguments: servers) func aDownloadTakesItsNameAtTheEnd(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            Self.words(folder) + """
                mkdir "$T/downloads" "$F/downloads"
                head -c 12000000 /dev/urandom >"$T/source"
                for D in "$T/downloads" "$F/downloads"; do
                    : >"$D/film.mp4"
                    dd if="$T/source" of="$D/film.mp4.part" bs=64K status=none
                    mv -f "$D/film.mp4.part" "$D/film.mp4"
                done
                same "$T/downloads" downloads
                """)
        #expect(try folder.bucket.object(folder.object("downloads/film.mp4"))?.contentType == "video/mp4")
    }
}
