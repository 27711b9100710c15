import Foundation
import Testing

/// How a mount ends while something is not stored yet.
struct EndingTests {
    /// A file whose caller was killed in `close`, while the server does not answer.
    private func leaveUnsaved(_ folder: MountedFolder, _ server: RunningServer) throws {
        try folder.run(
            """
            python3 - "$F/late" "\(try #require(server.processID))" "$T/stopped" <<'PYTHON' & writer=$!
            import os, pathlib, signal, sys, time
            file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
            os.write(file, b"late\\n")
            server = int(sys.argv[2])
            os.kill(server, signal.SIGSTOP)
            # Until the signal has reached the last of its threads, one may answer.
            threads = pathlib.Path(f"/proc/{server}/task").glob
            while not all("State:\\tT" in (thread / "status").read_text() for thread in threads("*")): time.sleep(0.01)
            pathlib.Path(sys.argv[3]).touch()
            os.close(file)
            PYTHON
            until [ -e "$T/stopped" ]; do sleep 0.1; done
            sleep 1; kill -9 $writer 2>/dev/null || true; wait $writer || true
            """)
    }

    private func signal(_ server: RunningServer, _ number: Int32) throws {
        kill(try #require(server.processID), number)
    }

    @Test func unmountSaysWhatItWaitsForAndLosesNothing() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        defer { try? signal(mounted.server, SIGCONT) }
        try leaveUnsaved(folder, mounted.server)
        let outcome = try folder.attempt(
            """
            '\(Programs.firemount)' unmount "$M" >"$T/said" 2>&1 & unmounting=$!
            for i in $(seq 600); do grep -q "not confirmed" "$T/said" && break; sleep 0.1; done
            kill -CONT \(try #require(mounted.server.processID))
            wait $unmounting && status=0 || status=$?
            cat "$T/said"
            exit $status
            """)
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("Waiting for firemount"))
        #expect(outcome.output.contains("1 file, all sent and not confirmed: \(folder.object("late"))"))
        #expect(try mounted.bucket.text(folder.object("late")) == "late\n")
    }

    @Test func aSecondSignalHurriesAndTheJournalHasTheRest() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try leaveUnsaved(folder, mounted.server)
        let process = try #require(mounted.process)
        let number = try #require(process.processID)
        kill(number, SIGTERM)
        Thread.sleep(forTimeInterval: 2)
        #expect(process.isRunning, "the first one waits")
        kill(number, SIGTERM)
        let begin = ContinuousClock.now
        #expect(mounted.unmount() == 1, "its status says that something is not stored")
        #expect(begin.duration(to: .now) < .seconds(10))
        try signal(mounted.server, SIGCONT)
        #expect(process.log.contains("it is kept"))
    }

    @Test func aDeadNetworkEndsTheWaitingByItself() throws {
        let mounted = try MountedBucket(on: .local, options: ["--timeout", "3s"])
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        defer { try? signal(mounted.server, SIGCONT) }
        try leaveUnsaved(folder, mounted.server)
        let begin = ContinuousClock.now
        #expect(mounted.unmount() == 1)
        #expect(begin.duration(to: .now) < .seconds(20))
    }
}
