import Foundation
import Testing

/// Folders, which a bucket does not have.
@Suite(.mounted(options: MountedBucket.watchfulOptions)) struct DirectoriesTests {
    @Test(arguments: Server.allCases)
    func aBucketWithoutPlaceholdersShowsItsWholeTree(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        for name in ["images/2026/a.png", "images/2026/b.png", "users/u1/profile.json"] {
            try folder.bucket.put(folder.object(name), name)
        }
        try folder.run(
            """
            expect "$(cd "$F" && find . -type f | sort | tr '\\n' ' ')" \
                './images/2026/a.png ./images/2026/b.png ./users/u1/profile.json '
            expect "$(ls "$F" | tr '\\n' ' ')" 'images users '
            [ -d "$F/images/2026" ]
            """)
    }

    @Test(arguments: Server.allCases)
    func anImplicitFolderCanBeRemovedWithItsContents(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        for name in ["d/one", "d/e/two", "d/e/f/three", "stays"] { try folder.bucket.put(folder.object(name), name) }
        try folder.run("rm -r \"$F/d\"; [ ! -e \"$F/d\" ]; expect \"$(ls \"$F\")\" stays")
        #expect(try folder.bucket.list(folder.object("")) == [folder.object("stays")])
    }

    @Test(arguments: Server.allCases)
    func anyObjectEndingInASlashIsAFolder(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        try folder.bucket.put(folder.object("typed/"), Data(), contentType: "text/plain")
        try folder.bucket.put(folder.object("filled/"), Data("placeholder".utf8))
        try folder.bucket.put(folder.object("filled/file"), "x")
        try folder.run(
            """
            for name in typed filled; do [ -d "$F/$name" ] || fail "$name is no folder"; done
            expect "$(ls "$F" | tr '\\n' ' ')" 'filled typed '
            expect "$(ls "$F/filled")" file; expect "$(ls -A "$F/typed")" ''
            touch "$F/typed/new"; rm "$F/typed/new"; rmdir "$F/typed"
            rm -r "$F/filled"
            expect "$(ls -A "$F")" ''
            """)
    }

    @Test(arguments: Server.allCases)
    func aFolderStaysWhenItsLastFileGoes(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        try folder.bucket.put(folder.object("kept/only"), "x")
        try folder.run(
            """
            rm "$F/kept/only"
            [ -d "$F/kept" ] || fail 'the folder went with its last file'
            expect "$(ls -A "$F/kept")" ''
            echo again >"$F/kept/another"; expect "$(cat "$F/kept/another")" again
            """)
        #expect(try folder.bucket.text(folder.object("kept/another")) == "again\n")
        try folder.run("cd \"$F/kept\"; rm another; echo here >third; expect \"$(ls)\" third")
        try folder.seenAfresh { try $0.run("expect \"$(cat \"$F/kept/third\")\" here") }
    }

    @Test(arguments: Server.allCases)
    func madeFoldersAreThereForOthersAndGoOnRmdir(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run("mkdir -p \"$F/a/b\"; fails mkdir \"$F/a\"; fails mkdir \"$F/none/c\"")
        #expect(try folder.bucket.list(folder.object("a")).contains(folder.object("a/b/")))
        try folder.seenAfresh { try $0.run("[ -d \"$F/a/b\" ]; expect \"$(ls -A \"$F/a/b\")\" ''") }
        try folder.run(
            """
            touch "$F/a/b/file"
            python3 - "$F" <<'PYTHON'
            import errno, os, sys
            try: os.rmdir(sys.argv[1] + "/a/b")
            except OSError as problem: assert problem.errno == errno.ENOTEMPTY, problem
            else: sys.exit("a folder with a file went")
            try: os.rmdir(sys.argv[1] + "/a/b/file")
            except OSError as problem: assert problem.errno == errno.ENOTDIR, problem
            else: sys.exit("rmdir removed a file")
            try: os.unlink(sys.argv[1] + "/a")
            except OSError as problem: assert problem.errno in (errno.EISDIR, errno.EPERM), problem
            else: sys.exit("unlink removed a folder")
            PYTHON
            rm "$F/a/b/file"; rmdir "$F/a/b" "$F/a"
            """)
        #expect(try folder.bucket.list(folder.object("a")).isEmpty)
    }

    @Test(arguments: Server.allCases)
    func deepPathsWork(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            deep=$(printf 'level%02d/' $(seq 60))
            mkdir -p "$F/$deep"; echo bottom >"$F/$deep/file"
            expect "$(find "$F" -name file -exec cat {} +)" bottom
            expect "$(find "$F" -type d | wc -l)" 61
            rm -r "$F/level01"; expect "$(ls -A "$F")" ''
            """)
    }

    @Test(arguments: Server.allCases)
    func aListingReadWhileFilesComeAndGoNamesTheOthersOnce(server: Server) throws {
        try Mounts.folder(on: server).run(
            """
            cd "$F"; for i in $(seq 100 399); do : >kept$i; done
            python3 - <<'PYTHON'
            import os
            with os.scandir(".") as entries:
                seen = [next(entries).name]
                for number in range(100, 150): open(f"new{number}", "w").close()
                seen += [entry.name for entry in entries]
            kept = [name for name in seen if name.startswith("kept")]
            assert len(kept) == len(set(kept)) == 300, (len(kept), len(set(kept)))
            for name in os.listdir("."): os.unlink(name)
            assert os.listdir(".") == []
            PYTHON
            """)
    }

    @Test(arguments: Server.allCases)
    func numbersThatToolsCompareDoNotChange(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        let numbers = "cd \"$F\"; stat -c '%n %i %s %a %.Y %h' a d/b s; stat -c '%n %i %a %h' d"
        let before = try folder.run("cd \"$F\"; mkdir d; echo a >a; echo b >d/b; ln -s a s; " + numbers)
        #expect(try folder.run("sleep 2.5; ls -lR \"$F\" >/dev/null; " + numbers) == before)
        #expect(try folder.seenAfresh { try $0.run(numbers) } == before)
    }
}
