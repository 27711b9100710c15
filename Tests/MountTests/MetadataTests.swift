import Foundation
import Testing

/// What the bucket's other users need to find on objects that a mount wrote.
@Suite(.mounted(options: MountedBucket.watchfulOptions)) struct MetadataTests {
    @Test(arguments: Server.allCases)
    func theContentTypeFollowsTheNamesExtension(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        let types = [
            "a.html": "text/html", "a.css": "text/css", "a.json": "application/json", "a.png": "image/png",
            "a.jpg": "image/jpeg", "A.JPG": "image/jpeg", "a.pdf": "application/pdf", "a.mp4": "video/mp4",
            "a.svg": "image/svg+xml", "a.txt": "text/plain", "noextension": "application/octet-stream",
        ]
        try folder.run("cd \"$F\"; for name in \(types.keys.joined(separator: " ")); do echo x >$name; done")
        for (name, type) in types {
            let found = try folder.bucket.object(folder.object(name))?.contentType
            #expect(found?.split(separator: ";").first.map(String.init) == type, "\(name)")
        }
    }

    @Test(arguments: Server.allCases)
    func theTypeFollowsTheFinalNameAfterARename(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run("cd \"$F\"; echo x >upload.tmp; mv upload.tmp page.html")
        let type = try folder.bucket.object(folder.object("page.html"))?.contentType
        #expect(type?.hasPrefix("text/html") == true, "\(type ?? "none")")
    }

    @Test(arguments: Server.allCases)
    func timesAreKeptInBothConventions(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            "echo x >\"$T/file\"; touch -d '2001-02-03 04:05:06.789' \"$T/file\"; cp -p \"$T/file\" \"$F/file\"")
        let metadata = try #require(try folder.bucket.object(folder.object("file"))?.metadata)
        #expect(metadata["goog-reserved-file-mtime"] == "981173106")
        #expect(metadata["gcsfuse_mtime"]?.hasPrefix("2001-02-03T04:05:06.789") == true, "\(metadata)")
    }

    @Test(arguments: Server.allCases)
    func timesThatOtherToolsWroteAreShown(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        let times: [String: [String: String]] = [
            "gsutil": ["goog-reserved-file-mtime": "981173106"],
            "gcsfuse": ["gcsfuse_mtime": "2001-02-03T04:05:06Z"],
            "rclone": ["mtime": "2001-02-03T05:05:06+01:00"],
        ]
        for (name, metadata) in times {
            try folder.bucket.put(folder.object(name), Data("x".utf8), metadata: ["metadata": metadata])
        }
        try folder.run("for f in gsutil gcsfuse rclone; do expect \"$(stat -c %Y \"$F/$f\")\" 981173106 \"$f:\"; done")
    }

    @Test(arguments: Server.allCases)
    func changingTimesSendsNoContent(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        try folder.bucket.put(folder.object("file"), "content")
        let before = try #require(try folder.bucket.object(folder.object("file")))
        try folder.run("touch -d 2001-01-01 \"$F/file\"; expect \"$(stat -c %Y \"$F/file\")\" 978307200")
        let after = try #require(try folder.bucket.object(folder.object("file")))
        if server == .local { #expect(after.generation == before.generation) }
        #expect(after.metadata?["goog-reserved-file-mtime"] == "978307200")
        #expect(try folder.bucket.text(folder.object("file")) == "content")
    }

    @Test(arguments: Server.allCases)
    func changingModesIsQuietAndLeavesTheContentAlone(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            "cd \"$F\"; echo content >file; chmod 600 file; chmod +x file; chown 0:0 file; grep -q content file"
        )
        #expect(try folder.bucket.text(folder.object("file")) == "content\n")
    }

    @Test(arguments: Server.allCases)
    func extendedAttributesShowWhatTheObjectCarries(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        let name = folder.object("file.txt")
        try folder.bucket.put(
            name, Data("content".utf8), contentType: "text/x-special",
            metadata: [
                "contentLanguage": "de", "metadata": ["colour": "red", "goog-reserved-file-mtime": "981173106"],
            ])
        let generation = try #require(try folder.bucket.object(name)?.generation)
        try folder.run(
            """
            value() { getfattr --absolute-names --only-values -n "$1" "$F/file.txt"; }
            expect "$(value user.mime_type)" text/x-special
            expect "$(value user.storage.content_language)" de
            expect "$(value user.colour)" red
            expect "$(value user.storage.generation)" \(generation)
            getfattr --absolute-names -d "$F/file.txt" >"$T/all"
            grep -q '^user.colour="red"$' "$T/all"
            if grep -E 'mtime|posix|Tokens' "$T/all"; then fail 'bookkeeping shows'; fi
            """)
    }
}
