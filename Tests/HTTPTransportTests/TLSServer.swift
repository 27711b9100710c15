import Foundation
import TestSupport

/// `openssl s_server` with a fresh certificate for 127.0.0.1: a TLS server that shares nothing with the code under
/// test.
final class TLSServer {
    struct Failure: Error {}

    let port: Int
    /// PEM file of the certificate, which is its own authority.
    let certificate: String
    private let folder = temporaryDirectory()
    private let process = Process()

    /// - Parameter name: the address the certificate speaks for.
    init(name: String = "127.0.0.1") throws {
        certificate = folder.path + "/certificate.pem"
        let key = folder.path + "/key.pem"
        let subject = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:\(name)"]
        let request = Process()
        request.executableURL = URL(filePath: "/usr/bin/env")
        request.arguments =
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out"]
            + [certificate] + subject
        request.standardError = FileHandle.nullDevice
        try request.run()
        request.waitUntilExit()
        guard request.terminationStatus == 0 else { throw Failure() }

        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // It tells where it listens in a line "ACCEPT 127.0.0.1:PORT".
        var text = ""
        while !text.contains(/ACCEPT [^\n]*:\d+\n/) {
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else { throw Failure() }
            text += String(decoding: piece, as: UTF8.self)
        }
        guard let match = text.firstMatch(of: /ACCEPT [^\n]*:(\d+)\n/), let port = Int(match.1) else { throw Failure() }
        self.port = port
    }

    // A child of a thread of Swift's pool is born with signals blocked, SIGTERM among them.
    deinit { kill(process.processIdentifier, SIGKILL) }

    var url: String { "https://127.0.0.1:\(port)/" }
}
