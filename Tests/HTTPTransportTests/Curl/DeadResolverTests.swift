import Foundation
import HTTPTransport
import Logging
import TestSupport
import Testing

/// A name server that takes questions and answers none. The system's resolver waits for it for minutes, and cannot be
/// called back.
@Suite struct DeadResolverTests {
    /// Set in a process that finds such a server in its `/etc/resolv.conf`.
    private static let variable = "FIREMOUNT_TEST_DEAD_RESOLVER"
    private static var isInside: Bool { ProcessInfo.processInfo.environment[variable] != nil }

    /// Takes time of no request but the one that asks, and of that no more than it may take.
    @Test(.enabled(if: isInside)) func aNameThatIsNotResolvedHoldsUpNobodyElse() async {
        let server = RawServer { connection in
            while connection.readRequest() != nil { connection.answer() }
        }
        defer { server.close() }
        let transport = CurlTransport(log: .silent)
        let lost = (0..<3).map { _ in Recorder() }
        for (number, recorder) in lost.enumerated() {
            let url = "http://name\(number).example/"
            transport.send(HTTPRequest(.get, url, deadline: .seconds(2)), to: recorder)
        }
        let cancelled = Recorder()
        transport.send(HTTPRequest(.get, "http://name.example/"), to: cancelled).cancel()
        let begin = ContinuousClock.now
        var answered = 0
        while lost.contains(where: { $0.record.results.isEmpty }) {
            let recorder = Recorder()
            transport.send(HTTPRequest(.get, server.url()), to: recorder)
            #expect(await recorder.finished().kind == nil)
            answered += 1
        }
        #expect(begin.duration(to: .now) < .seconds(25))
        #expect(lost.allSatisfy { $0.record.kind == .timedOut }, "\(lost.map(\.record.results))")
        #expect(cancelled.record.kind == .cancelled)
        #expect(answered > 10, "they went on meanwhile")
        transport.shutDown()
        #expect(begin.duration(to: .now) < .seconds(25))
    }

    /// `/etc/resolv.conf` is another file for a child in a mount name space of its own, which only root can make.
    @Test(.enabled(if: !isInside && geteuid() == 0)) func aDeadResolverIsMetInAProcessOfItsOwn() throws {
        let folder = temporaryDirectory()
        let address = "127.0.\(Int.random(in: 1...255)).\(Int.random(in: 1...254))"
        let configuration = folder.path + "/resolv.conf"
        let answer = folder.path + "/said"
        try "nameserver \(address)\noptions timeout:30 attempts:5\n"
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "unshare", "--mount", "--propagation", "private", "bash", "-euc", Self.script, "bash", configuration,
            address, try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"), answer,
        ]
        process.environment = ProcessInfo.processInfo.environment.merging([Self.variable: "1"]) { $1 }
        try process.run()
        process.waitUntilExit()
        let said = try String(contentsOfFile: answer, encoding: .utf8)
        #expect(process.terminationStatus == 0, "\(said)")
        #expect(said.contains("aNameThatIsNotResolvedHoldsUpNobodyElse() passed"), "\(said)")
    }

    /// The socket stays open in the program that takes the place of this one, and nobody reads from it.
    private static let script = """
        exec >"$4" 2>&1
        mount --bind "$1" "$(realpath /etc/resolv.conf)"
        exec python3 -c '
        import os, socket, sys
        address, program = sys.argv[1:]
        hole = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        hole.bind((address, 53))
        hole.set_inheritable(True)
        os.execv(program, [program, "--testing-library", "swift-testing", "--filter", "DeadResolverTests"])
        ' "$2" "$3"
        """
}
