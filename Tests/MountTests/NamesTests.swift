import Foundation
import Testing

/// Names are bytes: whatever a file may be called, the object is called the same.
@Suite(.mounted(options: MountedBucket.watchfulOptions)) struct NamesTests {
    @Test(arguments: Server.allCases)
    func unusualCharactersComeThroughUnchanged(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        let names = [
            "with space", "per%cent", "per%20cent", "ques?tion", "ha#sh", "pl+us", "am&per=sand", "semi;colon",
            "quo'te\"s",
            "back\\slash", "star*[x]", "{braces}", "tab\tinside", "ünïcödé", "日本語", "🔥", ".hidden", "...", "-dash",
            "a:b@c",
        ]
        try folder.run(
            """
            python3 - "$F" \(names.map(quoted).joined(separator: " ")) <<'PYTHON'
            import os, sys
            os.chdir(sys.argv[1]); names = sys.argv[2:]
            for name in names:
                with open("./" + name, "w") as file: file.write(name)
            assert sorted(os.listdir(".")) == sorted(names), set(names) ^ set(os.listdir("."))
            for name in names:
                assert open("./" + name).read() == name
                os.rename(name, name + ".moved"); os.rename(name + ".moved", name)
            PYTHON
            """)
        for name in names { #expect(try folder.bucket.text(folder.object(name)) == name) }
        try folder.seenAfresh { try $0.run("expect \"$(ls -A \"$F\" | wc -l)\" \(names.count)") }
        try folder.run("rm -r \"$F\"")
        #expect(try folder.bucket.list(folder.object("")).isEmpty)
    }

    @Test(arguments: Server.allCases)
    func composedAndDecomposedLettersAreTwoNames(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            cd "$F"; composed=$(printf 'caf\\303\\251'); decomposed=$(printf 'cafe\\314\\201')
            echo 1 >"$composed"; echo 2 >"$decomposed"
            expect "$(ls | wc -l) $(cat "$composed") $(cat "$decomposed")" '2 1 2'
            rm "$composed"; expect "$(cat "$decomposed")" 2
            """)
        let names = try folder.bucket.list(folder.object("caf")).map { Array($0.utf8) }
        #expect(names == [Array("\(folder.name)/cafe\u{301}".utf8)])
    }

    @Test(arguments: Server.allCases)
    func namesOf255BytesWorkAndLongerOnesAreRefused(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            long=$(printf 'x%.0s' $(seq 255))
            echo content >"$F/$long"; expect "$(cat "$F/$long")" content; expect "$(ls "$F")" "$long"
            mkdir "$F/d"; mv "$F/$long" "$F/d/$long"
            fails touch "$F/y$long"
            """)
        #expect(try folder.bucket.list(folder.object("d/x")).count == 1)
    }

    @Test(arguments: Server.allCases)
    func oddObjectNamesDoNotHideTheOthers(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        let odd = ["a//b", "./dot", "../dots", "x/../y", String(repeating: "z", count: 300), "line\tbreak"]
        for name in odd + ["plain", "folder/plain"] { try folder.bucket.put(folder.object(name), name) }
        try folder.run(
            """
            expect "$(cat "$F/plain") $(cat "$F/folder/plain")" 'plain folder/plain'
            ls -lR "$F" >"$T/listing"
            expect "$(ls -A "$F" | sort | uniq -d)" '' 'listed twice:'
            """)
    }

    /// The Firebase protocol shows none with an empty segment, and so leaves them where they are.
    @Test(arguments: Server.allCases)
    func oddObjectNamesMoveAndGoWithTheirFolder(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        let long = String(repeating: "z", count: 300)
        var odd = ["./dot", "../dots", "x/../y", "\(long)/\(long)", "both", "both/inside", "plain"]
        if server != .firebase { odd += ["a//b", "/x", "//", "c/"] }
        // The service has no names with line ends, but another server has.
        if server == .fakeGCS { odd.append("new\nline") }
        for name in odd { try folder.bucket.put(folder.object("old/\(name)"), name) }
        try folder.run("ls -lR \"$F\"; mv \"$F/old\" \"$F/new\"; ls -lR \"$F\"; [ ! -e \"$F/old\" ]")
        #expect(try folder.bucket.list(folder.object("old")).isEmpty)
        for name in odd { #expect(try folder.bucket.text(folder.object("new/\(name)")) == name, "\(name)") }
        try folder.run("rm -r \"$F/new\"; [ ! -e \"$F/new\" ]")
        #expect(try folder.bucket.list(folder.object("new")).isEmpty)
    }

    @Test(arguments: Server.allCases)
    func aFileAndAFolderOfOneNameAreBothReachable(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        try folder.bucket.put(folder.object("both"), "file")
        try folder.bucket.put(folder.object("both/inside"), "inside")
        try folder.run(
            """
            ls -lR "$F"
            expect "$(ls -A "$F" | wc -l)" 2 'entries:'
            expect "$(find "$F" -type f -exec cat {} + | sort | tr '\\n' ' ')" 'fileinside '
            file=$(find "$F" -maxdepth 1 -type f); rm "$file"
            """)
        #expect(try folder.bucket.text(folder.object("both/inside")) == "inside")
        #expect(try folder.bucket.object(folder.object("both")) == nil)
        try folder.bucket.put(folder.object("two"), "file")
        try folder.bucket.put(folder.object("two/inside"), "inside")
        try folder.run(
            """
            '\(Programs.firemount)' refresh "$F"
            rm -r "$F"/both*; rm -r "$(find "$F" -mindepth 1 -type d)"
            expect "$(cat "$(find "$F" -type f)")" file
            """)
        #expect(try folder.bucket.list(folder.object("")).filter { !$0.hasSuffix("/") } == [folder.object("two")])
    }

    @Test(arguments: Server.allCases)
    func symbolicLinksKeepTheirTargets(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        let check = """
            cd "$F"
            expect "$(readlink relative)" 'target file'; expect "$(readlink absolute)" /etc/hostname
            expect "$(readlink dangling)" ../nowhere; expect "$(cat relative)" text
            expect "$(stat -c '%F %s' relative)" 'symbolic link 11'

            """
        try folder.run(
            """
            cd "$F"; echo text >'target file'; ln -s 'target file' relative; ln -s /etc/hostname absolute
            ln -s ../nowhere dangling
            fails ln -s x relative
            \(check)
            rm -f dangling2; mv dangling dangling2; expect "$(readlink dangling2)" ../nowhere; mv dangling2 dangling
            """)
        try folder.seenAfresh { try $0.run(check) }
        let object = try #require(try folder.bucket.object(folder.object("relative")))
        #expect(object.metadata?["goog-reserved-file-is-symlink"] == "true")
        #expect(object.metadata?["gcsfuse_symlink_target"] == "target file")
    }

    @Test(arguments: Server.allCases)
    func hardLinksAndDevicesAreRefused(server: Server) throws {
        try Mounts.folder(on: server).run(
            """
            cd "$F"; touch file
            python3 - <<'PYTHON'
            import errno, os, stat
            def error(call):
                try: call()
                except OSError as problem: return problem.errno
            assert error(lambda: os.link("file", "hard")) in (errno.EPERM, errno.ENOTSUP)
            assert error(lambda: os.mknod("device", stat.S_IFBLK | 0o600, os.makedev(7, 0))) == errno.EPERM
            PYTHON
            expect "$(ls)" file
            """)
    }

    private func quoted(_ name: String) -> String { "'" + name.replacingOccurrences(of: "'", with: "'\\''") + "'" }
}
