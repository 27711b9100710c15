import Foundation
import Testing

@Suite(.mounted(options: MountedBucket.watchfulOptions)) struct RenamingTests {
    @Test(arguments: Server.allCases)
    func anOpenDirtyFileIsStoredUnderItsNewNameOnly(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            python3 - "$F" <<'PYTHON'
            import os, sys
            os.chdir(sys.argv[1])
            file = os.open("old", os.O_CREAT | os.O_WRONLY); os.write(file, b"one ")
            os.rename("old", "new"); os.write(file, b"two"); os.close(file)
            assert os.listdir(".") == ["new"]
            assert open("new", "rb").read() == b"one two"
            PYTHON
            """)
        #expect(try folder.bucket.text(folder.object("new")) == "one two")
        #expect(try folder.bucket.object(folder.object("old")) == nil)
    }

    @Test(arguments: Server.allCases)
    func anExistingFileOfAnotherSizeIsReplaced(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            cd "$F"; seq 1 10000 >long; echo short >short
            [ -s long ]; mv short long
            expect "$(stat -c %s long)" 6; expect "$(cat long)" short; expect "$(ls)" long
            """)
        #expect(try folder.bucket.text(folder.object("long")) == "short\n")
        #expect(try folder.bucket.object(folder.object("short")) == nil)
    }

    @Test(arguments: Server.allCases)
    func flagsOfRenameAreHonouredOrRefused(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            cd "$F"; echo a >a; echo b >b
            python3 - <<'PYTHON'
            import ctypes, errno, os
            libc = ctypes.CDLL(None, use_errno=True)
            def rename(old, new, flags):
                failed = libc.renameat2(-100, old, -100, new, flags)
                return ctypes.get_errno() if failed else 0
            noreplace, exchange = 1, 2
            assert rename(b"a", b"b", noreplace) == errno.EEXIST
            assert rename(b"a", b"b", exchange) == errno.EINVAL
            assert open("a").read() == "a\\n" and open("b").read() == "b\\n"
            assert rename(b"a", b"c", noreplace) == 0
            assert sorted(os.listdir(".")) == ["b", "c"]
            PYTHON
            """)
        #expect(try folder.bucket.text(folder.object("c")) == "a\n")
        #expect(try folder.bucket.text(folder.object("b")) == "b\n")
    }

    @Test(arguments: Server.allCases)
    func foldersAreReplacedOnlyWhenEmpty(server: Server) throws {
        try Mounts.folder(on: server).run(
            """
            cd "$F"; mkdir full empty source; touch full/file source/file
            python3 - <<'PYTHON'
            import errno, os
            def error(old, new):
                try: os.rename(old, new)
                except OSError as problem: return problem.errno
                return 0
            assert error("source", "full") in (errno.ENOTEMPTY, errno.EEXIST)
            assert error("source", "full/file") == errno.ENOTDIR
            assert error("full/file", "empty") == errno.EISDIR
            assert error("source", "empty") == 0
            assert os.listdir("empty") == ["file"] and not os.path.exists("source")
            assert error("missing", "anything") == errno.ENOENT
            assert error("full", "full/inside") == errno.EINVAL
            PYTHON
            """)
    }

    @Test(arguments: Server.allCases)
    func filesOpenInsideAMovedFolderFollow(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            python3 - "$F" <<'PYTHON'
            import os, sys
            os.chdir(sys.argv[1]); os.makedirs("a/b")
            open("a/b/other", "w").write("other")
            dirty = os.open("a/b/dirty", os.O_CREAT | os.O_RDWR); os.write(dirty, b"before ")
            reader = os.open("a/b/other", os.O_RDONLY)
            os.rename("a", "z")
            os.write(dirty, b"after"); os.close(dirty)
            assert os.read(reader, 10) == b"other"; os.close(reader)
            assert open("z/b/dirty").read() == "before after"
            assert os.listdir(".") == ["z"]
            PYTHON
            """)
        #expect(try folder.bucket.text(folder.object("z/b/dirty")) == "before after")
        #expect(try folder.bucket.text(folder.object("z/b/other")) == "other")
        #expect(try folder.bucket.list(folder.object("a")).isEmpty)
    }

    @Test(arguments: Server.allCases)
    func aRenamedFileKeepsTypeTimesAndMetadata(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.bucket.put(
            folder.object("old.txt"), Data("x".utf8), contentType: "text/x-special",
            metadata: ["metadata": ["colour": "red", "gcsfuse_mtime": "2001-02-03T04:05:06.5Z"]])
        try folder.run("mv \"$F/old.txt\" \"$F/new.txt\"; expect \"$(stat -c %.Y \"$F/new.txt\")\" 981173106.500000000")
        let object = try #require(try folder.bucket.object(folder.object("new.txt")))
        #expect(object.contentType == "text/x-special")
        #expect(object.metadata?["colour"] == "red")
    }
}
