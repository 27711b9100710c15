import Foundation
import Testing

/// What lies between a mount and its server, and can be told to fail (Programs/relay.py).
final class Relay: Sendable {
    enum Mode: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case forward, refuse, hole, stall, stump, trickle

        var testDescription: String { rawValue }
    }

    let url: String
    /// Where it is told what to do.
    let control: String
    private let folder: TemporaryFolder
    private let service: Service

    init(to server: RunningServer) throws {
        folder = try TemporaryFolder("relay")
        let target = try #require(server.url.split(separator: ":").last)
        let service = try Service(
            ["python3", Programs.script("relay.py"), String(target)], folder: folder.path, name: "relay")
        try service.wait { service.log.hasSuffix("\n") }
        self.service = service
        let ports = service.log.split(whereSeparator: \.isWhitespace)
        try #require(ports.count == 2, "\(service.log)")
        url = "http://127.0.0.1:\(ports[0])"
        control = "http://127.0.0.1:\(ports[1])"
    }

    func turn(_ mode: Mode) throws {
        let outcome = try Tool().run(["curl", "--silent", "--show-error", "--fail", "\(control)/\(mode)"])
        guard outcome.status == 0 else { throw ToolFailure(description: "relay: \(outcome.output)\(service.log)") }
    }

    func stop() { service.stop() }
}
