import Foundation
import Testing

/// Mounting, ending, and the options that change what a mount is.
@Suite struct LifecycleTests {
    @Test func aReadOnlyMountRefusesEveryChange() throws {
        try mounted(options: ["--read-only"]) { folder in
            try folder.bucket.put(folder.object("file"), "content")
            try folder.run(
                """
                expect "$(cat "$F/file")" content
                for change in "touch $F/new" "rm $F/file" "mkdir $F/d" "mv $F/file $F/other" "truncate -s 1 $F/file"; do
                    fails $change; expect "$($change 2>&1 | grep -c 'Read-only file system')" 1 "$change: EROFS"
                done
                """)
            #expect(try folder.bucket.list() == [folder.object("file")])
        }
    }

    @Test(arguments: Server.allCases)
    func aPrefixMountShowsThatFolderAlone(server: Server) throws {
        let whole = try MountedBucket(on: server)
        defer { whole.tearDown() }
        try whole.bucket.put("team/project/inside", "x")
        try whole.bucket.put("team/outside", "x")
        let part = try MountedBucket(again: whole, prefix: "/team/project")
        defer { part.tearDown() }
        let outcome = try Tool(environment: ["M": part.directory])
            .run(["bash", "-euc", "ls \"$M\"; echo new >\"$M/new\"; mkdir \"$M/d\"; mv \"$M/new\" \"$M/d/moved\""])
        #expect(outcome.status == 0 && outcome.output == "inside\n", "\(outcome.output)")
        #expect(try whole.bucket.text("team/project/d/moved") == "new\n")
        #expect(try whole.bucket.object("team/outside") != nil)
    }

    @Test func endingTheMountStoresWhatAnOpenFileHolds() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        try Data().write(to: URL(fileURLWithPath: mounted.directory + "/file"))
        let writer = try #require(FileHandle(forWritingAtPath: mounted.directory + "/file"))
        try writer.write(contentsOf: Data("not closed".utf8))
        mounted.unmount()
        try? writer.close()
        #expect(try mounted.bucket.text("file") == "not closed")
    }

    @Test func theUnmountCommandEndsTheMountWithSuccess() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        try Data("x".utf8).write(to: URL(fileURLWithPath: mounted.directory + "/file"))
        let outcome = try Tool().run([Programs.firemount, "unmount", mounted.directory])
        #expect(outcome.status == 0, "\(outcome.output)")
        let process = try #require(mounted.process)
        try #require(waitForEnd(of: process), "the mount still runs")
        #expect(process.stop() == 0)
        #expect(try mounted.bucket.text("file") == "x")
    }

    @Test func terminationUnmountsAndExitsWithSuccess() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        #expect(mounted.unmount() == 0)
        #expect(try Tool().run(["mountpoint", "-q", mounted.directory]).status != 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: mounted.directory).isEmpty)
    }

    @Test func aMountThatWasKilledCanBeMountedAgain() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run("echo stored >\"$F/file\"")
        let process = try #require(mounted.process)
        kill(try #require(process.processID), SIGKILL)
        try #require(waitForEnd(of: process))
        try mounted.remount()
        try folder.run("expect \"$(cat \"$F/file\")\" stored")
    }

    @Test func aMountOfAMissingBucketFailsAtOnceWithOneLine() throws {
        let server = try MountedBucket(on: .local)
        defer { server.tearDown() }
        let folder = try TemporaryFolder("missing")
        let time = try ContinuousClock().measure {
            let outcome = try Tool(limit: .seconds(30)).run([
                Programs.firemount, "mount", "gs://no-such-bucket", try folder.subfolder("mount"), "--foreground",
                "--anonymous",
                "--endpoint", server.server.url, "--cache-dir", try folder.subfolder("cache"),
            ])
            #expect(outcome.status == 1)
            #expect(outcome.output.split(separator: "\n").count == 1, "\(outcome.output)")
            #expect(outcome.output.contains("no-such-bucket"), "\(outcome.output)")
        }
        #expect(time < .seconds(10))
    }

    @Test func aMountWithoutAServerFailsWithinTenSeconds() throws {
        let folder = try TemporaryFolder("unreachable")
        let port = try Programs.freePort()
        let time = try ContinuousClock().measure {
            let outcome = try Tool(limit: .seconds(30)).run([
                Programs.firemount, "mount", "gs://bucket", try folder.subfolder("mount"), "--foreground",
                "--anonymous", "--endpoint",
                "http://127.0.0.1:\(port)", "--cache-dir", try folder.subfolder("cache"),
            ])
            #expect(outcome.status == 1)
            #expect(outcome.output.split(separator: "\n").count == 1, "\(outcome.output)")
        }
        #expect(time < .seconds(12))
    }

    @Test func theReadmeTellsHowToKeepUpdatedbAway() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.contains("PRUNEFS") && readme.contains("fuse.firemount"))
    }

    private func mounted(options: [String], _ body: (MountedFolder) throws -> Void) throws {
        let mounted = try MountedBucket(on: .local, options: options)
        defer { mounted.tearDown() }
        try body(try mounted.newPrefix())
    }

    private func waitForEnd(of process: Service) -> Bool {
        for _ in 0..<2_000 where process.isRunning { Thread.sleep(forTimeInterval: 0.01) }
        return !process.isRunning
    }
}
