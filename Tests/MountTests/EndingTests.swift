import Foundation
import Testing

/// How a mount ends while something is not stored yet.
struct EndingTests {
    /// A file whose caller was killed in `close`, while the server does not answer.
    private func leaveUnsaved(_ folder: MountedFolder, _ server: RunningServer) throws {
        try folder.run(
            """
            python3 - "$F/late" <<'PYTHON' & writer=$!
            import os, signal, sys
            file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
            os.write(file, b"late\\n")
            os.kill(os.getpid(), signal.SIGSTOP)
            os.close(file)
            PYTHON
            until_stopped $writer
            freeze \(try #require(server.processID)); kill -CONT $writer
            # All of it is on its way, or the writer was told already that it cannot be stored.
            until '\(Programs.firemount)' status "$M" | grep -q '100 %.*/late' || ! kill -0 $writer 2>/dev/null; do
                sleep 0.05
            done
            kill -9 $writer 2>/dev/null || true; wait $writer || true
            """)
    }

    private func signal(_ server: RunningServer, _ number: Int32) throws {
        kill(try #require(server.processID), number)
    }

    /// Nothing but the test itself ends the waiting, on the slowest machine.
    private static let patiently = ["--timeout", "10m", "--log-level", "info"]

    @Test func unmountSaysWhatItWaitsForAndLosesNothing() throws {
        let mounted = try MountedBucket(on: .local, options: Self.patiently)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        defer { try? signal(mounted.server, SIGCONT) }
        try leaveUnsaved(folder, mounted.server)
        let outcome = try folder.attempt(
            """
            '\(Programs.firemount)' unmount "$M" >"$T/said" 2>&1 & unmounting=$!
            until grep -q "not confirmed" "$T/said" || ! kill -0 $unmounting 2>/dev/null; do sleep 0.05; done
            kill -CONT \(try #require(mounted.server.processID))
            wait $unmounting && status=0 || status=$?
            cat "$T/said"
            exit $status
            """)
        #expect(outcome.status == 0, "\(outcome.output)\n\(mounted.logs)")
        #expect(outcome.output.contains("Waiting for firemount"))
        #expect(outcome.output.contains("1 file, all sent and not confirmed: \(folder.object("late"))"))
        #expect(try mounted.bucket.text(folder.object("late")) == "late\n")
    }

    /// The kernel gives the number of a mount that is gone to the next one, while the process behind the first goes on.
    @Test func unmountWaitsForItsOwnMountOnly() throws {
        let first = try MountedBucket(on: .local, options: Self.patiently)
        defer { first.tearDown() }
        let folder = try first.newFolder()
        defer { try? signal(first.server, SIGCONT) }
        try leaveUnsaved(folder, first.server)
        try folder.run("umount \"$M\"")
        let second = try MountedBucket(on: .local, options: Self.patiently)
        defer { second.tearDown() }
        let quick = try second.newFolder().attempt(
            """
            echo x >"$F/f"; cd /
            '\(Programs.firemount)' unmount "$M"
            """)
        #expect(quick.status == 0, "\(quick.output)")
        #expect(quick.output == "")
        #expect(!second.logs.contains("will not wait"), "\(second.logs)")
        #expect(first.process?.isRunning == true)
    }

    @Test func aSecondSignalHurriesAndTheJournalHasTheRest() throws {
        let mounted = try MountedBucket(on: .local, options: Self.patiently)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        defer { try? signal(mounted.server, SIGCONT) }
        try leaveUnsaved(folder, mounted.server)
        let process = try #require(mounted.process)
        let number = try #require(process.processID)
        kill(number, SIGTERM)
        try process.wait { process.log.contains("is unmounted") }
        // Signals within a second are one.
        Thread.sleep(forTimeInterval: 1.5)
        #expect(process.isRunning, "the first one waits\n\(mounted.logs)")
        for _ in 0..<60 where process.isRunning {
            kill(number, SIGTERM)
            Thread.sleep(forTimeInterval: 0.5)
        }
        #expect(!process.isRunning, "the second one hurries\n\(mounted.logs)")
        #expect(mounted.unmount() == 1, "its status says that something is not stored")
        #expect(process.log.contains("it is kept"))
    }

    @Test func whatRestsIsStoredAtTheEnd() throws {
        let mounted = try MountedBucket(on: .local, options: Self.patiently)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run(
            """
            '\(Programs.firemount)' pause "$M"
            (echo late >"$F/late") & writer=$!
            until '\(Programs.firemount)' status "$M" | grep -q 'paused.*/late'; do sleep 0.05; done
            kill -9 $writer; wait $writer || true
            '\(Programs.firemount)' unmount "$M"
            """)
        #expect(try mounted.bucket.text(folder.object("late")) == "late\n")
    }

    @Test func aDeadNetworkEndsTheWaitingByItself() throws {
        let mounted = try MountedBucket(on: .local, options: ["--timeout", "3s"])
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        defer { try? signal(mounted.server, SIGCONT) }
        try leaveUnsaved(folder, mounted.server)
        // After a minute it would be killed, and its status another.
        #expect(mounted.unmount() == 1, "\(mounted.logs)")
    }
}
