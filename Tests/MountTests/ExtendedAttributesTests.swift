import Foundation
import Testing

/// Extended attributes as the tools use them.
@Suite(.mounted(options: MountedBucket.watchfulOptions)) struct ExtendedAttributesTests {
    @Test(arguments: Server.allCases)
    func headersAreSetWithSetfattrAndNoContentTravels(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        try folder.bucket.put(folder.object("f.txt"), "content")
        let before = try #require(try folder.bucket.object(folder.object("f.txt")))
        try folder.run(
            """
            setfattr -n user.mime_type -v text/x-special "$F/f.txt"
            setfattr -n user.storage.cache_control -v no-cache "$F/f.txt"
            setfattr -n user.colour -v red "$F/f.txt"
            sync "$F/f.txt"
            getfattr --absolute-names -d "$F/f.txt" | grep -v '^#' | grep . | sort >"$T/all"
            expect "$(cut -d= -f2 "$T/all" | tr '\\n' ' ')" '"red" "text/x-special" "no-cache" '
            """)
        let after = try #require(try folder.bucket.object(folder.object("f.txt")))
        if server == .local { #expect(after.generation == before.generation) }
        #expect(after.contentType == "text/x-special")
        #expect(after.cacheControl == "no-cache")
        #expect(after.metadata?["colour"] == "red")
        #expect(try folder.bucket.text(folder.object("f.txt")) == "content")
        // fake-gcs-server does not remove what is patched to null.
        guard server == .local else { return }
        try folder.run(
            """
            setfattr -x user.colour "$F/f.txt"; setfattr -x user.storage.cache_control "$F/f.txt"; sync "$F/f.txt"
            fails getfattr -n user.colour "$F/f.txt"
            """)
        let last = try #require(try folder.bucket.object(folder.object("f.txt")))
        #expect(last.metadata?["colour"] == nil)
        #expect(last.cacheControl ?? "" == "")
    }

    @Test(arguments: Server.allCases)
    func refusalsHaveTheErrorsThatToolsExpect(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            echo x >"$F/f"
            python3 - "$F/f" <<'PYTHON'
            import errno, os, sys
            def refused(code, name, value=b"1", flags=0):
                try: os.setxattr(sys.argv[1], name, value, flags)
                except OSError as error: assert error.errno == code, (name, error)
                else: raise AssertionError(name)
            refused(errno.EPERM, "user.storage.generation")
            refused(errno.EPERM, "user.goog-reserved-file-mtime")
            refused(errno.EOPNOTSUPP, "user.storage.unheard-of")
            refused(errno.EOPNOTSUPP, "security.x")
            refused(errno.EINVAL, "user.k", b"\\xff\\xfe")
            refused(errno.E2BIG, "user.k", b"x" * 9000)
            refused(errno.ENODATA, "user.k", b"1", os.XATTR_REPLACE)
            os.setxattr(sys.argv[1], "user.k", b"x" * 5000, os.XATTR_CREATE)
            refused(errno.EEXIST, "user.k", b"1", os.XATTR_CREATE)
            refused(errno.ENOSPC, "user.l", b"x" * 5000)
            PYTHON
            """)
    }

    @Test(arguments: Server.allCases)
    func copiesTakeAttributesAlong(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            mkdir "$T/src" "$T/back"; echo text >"$T/src/page.html"; mkdir "$T/src/sub"
            setfattr -n user.colour -v red "$T/src/page.html"
            setfattr -n user.storage.cache_control -v no-cache "$T/src/page.html"
            setfattr -n user.shape -v round "$T/src/sub"
            cp -a "$T/src" "$F/cp"
            rsync -aX "$T/src/" "$F/rsync/"
            expect "$(rsync -aX --stats "$T/src/" "$F/rsync/" | grep -c 'Number of regular files transferred: 0')" 1
            for copy in cp rsync; do
                expect "$(getfattr --only-values -n user.colour "$F/$copy/page.html")" red
                expect "$(getfattr --only-values -n user.shape "$F/$copy/sub")" round
                cp -a "$F/$copy/." "$T/back"
                expect "$(getfattr --absolute-names -d "$T/back/page.html" | grep -c mime_type || true)" 0
                expect "$(getfattr --only-values -n user.colour "$T/back/page.html")" red
            done
            sync "$F/rsync/page.html" "$F/cp/page.html"
            """)
        for copy in ["cp", "rsync"] {
            let object = try #require(try folder.bucket.object(folder.object("\(copy)/page.html")))
            #expect(object.contentType == "text/html", "\(copy)")
            #expect(object.cacheControl == "no-cache", "\(copy)")
            #expect(object.metadata?["colour"] == "red", "\(copy)")
        }
    }
}
