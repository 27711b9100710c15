import Foundation
import Testing

/// Editors and in-place tools: they write beside the file and rename, or into its middle.
@Suite(.mounted(options: MountedBucket.watchfulOptions)) struct EditingTests {
    @Test(arguments: Server.allCases)
    func vimSavesAndLeavesNothingBeside(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            printf 'one\\ntwo\\n' >"$F/notes.txt"
            for how in 'set nobackup nowritebackup' 'set backup backupcopy=no' 'set writebackup backupcopy=yes'; do
                # Below /tmp it makes no backups otherwise.
                vim.tiny -es -u NONE -N -c 'set backupskip=' -c "$how" -c '%s/one/& more/' -c 'wq' "$F/notes.txt"
            done
            expect "$(head -1 "$F/notes.txt")" 'one more more more'
            rm -f "$F/notes.txt~"
            expect "$(ls -A "$F")" notes.txt
            """)
        #expect(try folder.bucket.text(folder.object("notes.txt")) == "one more more more\ntwo\n")
        #expect(try folder.bucket.list(folder.object("")).filter { $0.contains(".swp") }.isEmpty)
    }

    @Test(arguments: Server.allCases)
    func savingThroughABackupAndATemporaryFileReplacesTheFile(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            cd "$F"; echo old >file
            cp -p file file~
            echo new >.file.tmp; sync .file.tmp; mv .file.tmp file
            expect "$(cat file)" new; expect "$(cat file~)" old
            mv file file~; echo newer >file; rm file~
            expect "$(cat file)" newer; expect "$(ls -A)" file
            """)
        #expect(try folder.bucket.text(folder.object("file")) == "newer\n")
    }

    /// In place; over it; as emacs does, as vim does in its ways, and in-place tools with a backup.
    private static let saves = [
        "printf ' world' >>page.bin",
        "printf 'hello world' >page.bin",
        "printf 'hello world' >.new; mv .new page.bin",
        "mv page.bin page.bin~; printf 'hello world' >page.bin; rm page.bin~",
        "sed -i.bak 's/$/ world/' page.bin",
        "perl -pi.bak -e 's/$/ world/' page.bin",
        vim("nowritebackup"), vim("writebackup backupcopy=no"), vim("backup backupcopy=yes"),
    ]

    private static func vim(_ options: String) -> String {
        "vim.tiny -es -u NONE -N -b -c 'set backupskip= \(options)' -c 's/$/ world/' -c wq page.bin"
    }

    @Test(arguments: Server.allCases, saves)
    func savingKeepsWhatSomebodySetOnTheObject(server: Server, save: String) throws {
        let folder = try Mounts.prefix(on: server)
        let name = folder.object("page.bin")
        let token = "11111111-2222-3333-4444-555555555555"
        try folder.bucket.put(
            name, Data("hello".utf8), contentType: "text/x-special",
            metadata: [
                "cacheControl": "public, max-age=60", "contentDisposition": "attachment",
                "metadata": ["owner": "alice", "firebaseStorageDownloadTokens": token],
            ])
        let before = try folder.bucket.object(name)
        try folder.run("cd \"$F\"; \(save)")
        let object = try #require(try folder.bucket.object(name))
        #expect(try folder.bucket.text(name) == "hello world")
        #expect(object.contentType == "text/x-special")
        #expect(object.cacheControl == before?.cacheControl)
        #expect(object.contentDisposition == before?.contentDisposition)
        #expect(object.metadata?["owner"] == "alice")
        // A Firebase server has given the new file one of its own as well.
        let tokens = object.metadata?["firebaseStorageDownloadTokens"]?.split(separator: ",") ?? []
        #expect(tokens.contains(Substring(token)))
        #expect(tokens.count == 1 || server == .firebase)
    }

    @Test(arguments: Server.allCases)
    func inPlaceFiltersChangeTheFile(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            cd "$F"; seq 1 1000 >file
            sed -i 's/^5$/five/' file
            perl -pi -e 's/^7$/seven/' file
            perl -pi.orig -e 's/^9$/nine/' file
            expect "$(sed -n '5p;7p;9p' file | tr '\\n' ' ')" 'five seven nine '
            expect "$(ls -A | tr '\\n' ' ')" 'file file.orig '
            """)
        let text = try #require(try folder.bucket.text(folder.object("file")))
        #expect(text.split(separator: "\n").count == 1_000)
        #expect(text.contains("\nseven\n"))
    }

    @Test(arguments: Server.allCases)
    func ddWritesIntoTheMiddle(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            dd if=/dev/urandom of="$T/file" bs=1000 count=3000 status=none
            cp "$T/file" "$F/file"
            for side in "$T" "$F"; do
                printf hello | dd of="$side/file" bs=1 seek=1234567 conv=notrunc status=none
                printf tail | dd of="$side/file" bs=1 seek=3100000 conv=notrunc status=none
            done
            cmp "$T/file" "$F/file"
            """)
        try folder.seenAfresh { try $0.run("cmp '\(folder.scratch.path)/file' \"$F/file\"") }
    }

    @Test(arguments: Server.allCases)
    func truncationShrinksAndGrowsWithZeros(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            cd "$F"; for f in a b c d e; do printf 0123456789 >$f; done
            truncate -s 5 a
            python3 -c 'import os; os.truncate("b", 3)'
            python3 -c 'import os; os.truncate("c", 12)'
            python3 -c 'import os; f = os.open("d", os.O_RDWR); os.ftruncate(f, 4); os.ftruncate(f, 6); os.close(f)'
            : >e
            expect "$(stat -c %s a b c d e | tr '\\n' ' ')" '5 3 12 6 0 '
            expect "$(od -An -c d | tr -d ' ')" '0123\\0\\0'
            """)
        #expect(try folder.bucket.text(folder.object("a")) == "01234")
        #expect(try folder.bucket.text(folder.object("b")) == "012")
        #expect(try folder.bucket.text(folder.object("c")) == "0123456789\0\0")
        #expect(try folder.bucket.text(folder.object("d")) == "0123\0\0")
        #expect(try folder.bucket.text(folder.object("e")) == "")
    }
}
