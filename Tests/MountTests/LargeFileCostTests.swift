import Foundation
import Testing

/// What is done to a little of a large file moves a little, or all of it once. The local server counts the bytes.
@Suite(.serialized) struct LargeFileCostTests {
    private static let servers = [Server.local, .firebase]
    private static let size = 48 << 20
    /// Heads of requests, metadata, and what is read ahead of a few.
    private static let small = 4 << 20

    @Test(arguments: servers)
    func aByteInTheMiddleTravelsOnceEachWay(server: Server) throws {
        try counting(on: server) { folder in
            let requests = try bytes(folder) {
                try folder.run("printf X | dd of=\"$F/big\" bs=1 seek=30000000 conv=notrunc status=none")
            }
            #expect(requests.bytesSent <= Self.size + Self.small, "\(requests)")
            #expect(requests.bytesReceived <= Self.size + Self.small, "\(requests)")
            var expected = Data(count: Self.size)
            expected[30_000_000] = UInt8(ascii: "X")
            #expect((try folder.bucket.get(folder.object("big")) == expected) as Bool)
        }
    }

    /// On a local folder rsync writes the whole, and need not read. Told to compare, it reads the whole first, and what
    /// is stored is checked against the whole again.
    @Test(arguments: servers, [("--whole-file", 0), ("--no-whole-file", 3)])
    func rsyncInPlaceSendsTheFileOnce(server: Server, how: (option: String, downloads: Int)) throws {
        try counting(on: server) { folder in
            try folder.run(
                "head -c \(Self.size) /dev/zero >\"$T/big\"; printf X | dd of=\"$T/big\" bs=1 seek=999 conv=notrunc; "
                    + "touch -d 2001-01-01 \"$T/big\"")
            let requests = try bytes(folder) {
                try folder.run("rsync -a --inplace \(how.option) \"$T/big\" \"$F/big\"; cmp \"$T/big\" \"$F/big\"")
            }
            #expect(requests.bytesSent <= how.downloads * Self.size + Self.small, "\(requests)")
            #expect(requests.bytesReceived <= Self.size + Self.small, "\(requests)")
        }
    }

    @Test(arguments: servers)
    func aNewTimeAndANewModeAreSmallRequests(server: Server) throws {
        try counting(on: server) { folder in
            let requests = try bytes(folder) {
                try folder.run(
                    """
                    touch -d 2001-01-01 "$F/big"; chmod 600 "$F/big"
                    python3 -c 'import os, sys; os.fsync(os.open(sys.argv[1], os.O_WRONLY))' "$F/big"
                    """)
            }
            #expect(requests.bytesReceived + requests.bytesSent < 20_000, "\(requests)")
            #expect(requests.total <= (server == .local ? 2 : 4), "\(requests)")
            let metadata = try folder.bucket.object(folder.object("big"))?.metadata
            #expect(metadata?["goog-reserved-file-mtime"] == "978307200")
            #expect(metadata?["goog-reserved-posix-mode"] == "600")
        }
    }

    /// A file manager looks at each for its type, its attributes and a preview.
    @Test(arguments: servers)
    func lookingThroughAFolderOfFilmsReadsLittleOfEach(server: Server) throws {
        try counting(on: server) { folder in
            let films = 20
            try folder.mounted.server.multiply(folder.object("big"), prefix: folder.object("film"), count: films - 1)
            let requests = try bytes(folder) {
                try folder.run(
                    """
                    ls -l --color=always "$F"
                    for film in "$F"/*; do
                        stat "$film"; getfattr --absolute-names -d "$film"
                        head -c 65536 "$film" >"$T/head"; tail -c 65536 "$film" >"$T/tail"
                        expect "$(cat "$T/head" "$T/tail" | wc -c)" 131072
                    done
                    """)
            }
            #expect(requests.bytesSent < films * Self.small, "\(requests)")
            #expect(requests.bytesReceived < Self.small, "\(requests)")
        }
    }

    /// With a large object `big` that the mount has seen and not read.
    private func counting(on server: Server, _ body: (MountedFolder) throws -> Void) throws {
        let mounted = try MountedBucket(on: server, options: [])
        defer { mounted.tearDown() }
        let folder = try mounted.newPrefix()
        try folder.bucket.put(folder.object("big"), Data(count: Self.size))
        try folder.run("ls -l \"$F\"")
        try body(folder)
    }

    private func bytes(_ folder: MountedFolder, _ body: () throws -> Void) throws -> OtherClient.Requests {
        try folder.bucket.forgetRequests()
        try body()
        return try folder.bucket.requests()
    }
}
