import Foundation
import Synchronization

/// Fails each HTTP request of each workload once, in each way, and looks at what is in the bucket afterwards.
///
/// A run is right when the tool succeeded and the bucket has what a local folder would have, or when the tool reported
/// an error and every file is whole in its old or its new version.
final class FaultCampaign: Sendable {
    struct Case: Sendable, CustomStringConvertible {
        let workload: Workload
        let fault: String
        /// How many of the workload's requests go well first.
        let skip: Int
        var description: String { "\(workload), request \(skip + 1): \(fault)" }
    }

    struct Report: Sendable, CustomStringConvertible {
        var runs = 0
        /// The tool succeeded although a request failed.
        var successes = 0
        var violations: [String] = []
        var description: String { "\(runs) runs, \(successes) succeeded, \(violations.count) violations" }
    }

    /// Short, so that a request that stalls does not take long.
    static let options = ["--timeout", "3s", "--metadata-ttl", "60s", "--negative-ttl", "0s"]

    private let mounted: MountedBucket
    private let report = Mutex(Report())

    init(_ mounted: MountedBucket) { self.mounted = mounted }

    /// Every case of `workload`: one for each request of a run that goes well, and each fault.
    func cases(of workload: Workload) throws -> [Case] {
        let room = try Room(mounted, workload)
        defer { room.remove() }
        try mounted.bucket.forgetRequests()
        let outcome = try room.run()
        guard outcome.status == 0 else {
            throw ToolFailure(description: "\(workload) fails without a fault: \(outcome.output)\n\(mounted.logs)")
        }
        let requests = try mounted.bucket.requests().total
        return RequestFault.all.flatMap { fault in
            (0..<requests).map { Case(workload: workload, fault: fault, skip: $0) }
        }
    }

    /// What went wrong in this one.
    func run(_ one: Case) throws -> [String] {
        let room = try Room(mounted, one.workload)
        defer { room.remove() }
        try mounted.bucket.injectFault("*", one.fault, times: 1, skip: one.skip)
        let outcome = try room.run()
        try mounted.bucket.clearFaults(patience: .seconds(10))
        let violations = try room.problems(after: outcome).map {
            "\(one) (status \(outcome.status)): \($0)\n\(outcome.output)"
        }
        report.withLock { report in
            report.runs += 1
            report.successes += outcome.status == 0 ? 1 : 0
            report.violations += violations
        }
        return violations
    }

    var result: Report { report.withLock { $0 } }
}

/// The folders of one run.
private struct Room {
    let workload: Workload
    let folder: MountedFolder

    init(_ mounted: MountedBucket, _ workload: Workload) throws {
        self.workload = workload
        folder = try mounted.newPrefix()
        try folder.bucket.put(folder.object("kept"), "never touched")
        for (name, bytes) in workload.before { try folder.bucket.put(folder.object(name), bytes) }
        try Self.makeMaterial(in: folder.scratch.path)
    }

    func remove() { folder.scratch.remove() }

    private static func makeMaterial(in path: String) throws {
        let root = URL(fileURLWithPath: path)
        try Data("small\n".utf8).write(to: root.appending(path: "small"))
        try Workload.pattern(Workload.largeSize, 7).write(to: root.appending(path: "large"))
        for (name, bytes) in Workload.treeFiles {
            let file = root.appending(path: "tree/\(name)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try bytes.write(to: file)
        }
        let tar = try Tool().run(["tar", "-C", "\(path)/tree", "-cf", "\(path)/tree.tar", "."])
        guard tar.status == 0 else { throw ToolFailure(description: tar.output) }
    }

    func run() throws -> Tool.Outcome { try folder.attempt(workload.script, limit: .seconds(60)) }

    /// What is wrong with the bucket, or with what the tool said.
    func problems(after outcome: Tool.Outcome) throws -> [String] {
        if outcome.status == 66 { return ["the tool was shown something wrong"] }
        if outcome.status == 124 || outcome.status == 137 { return ["the tool hung"] }
        var before = workload.before
        before["kept"] = Data("never touched".utf8)
        let after = try localResult(before)
        let found = try folder.bucket.files(below: folder.object(""))
        if outcome.status == 0 {
            return Self.differences(found, after).map { "the tool succeeded, but \($0)" }
        }
        return Self.damage(found, before: before, after: after)
    }

    /// What the same script makes of the same files on a local disk.
    private func localResult(_ before: [String: Data]) throws -> [String: Data] {
        let local = try TemporaryFolder("local")
        defer { local.remove() }
        for (name, bytes) in before {
            let file = URL(fileURLWithPath: "\(local.path)/\(name)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try bytes.write(to: file)
        }
        let environment = ["F": local.path, "T": folder.scratch.path, "PATH": "/usr/bin:/bin", "TZ": "UTC"]
        let outcome = try Tool(environment: environment).run(["/bin/bash", "-euo", "pipefail", "-c", workload.script])
        guard outcome.status == 0 else { throw ToolFailure(description: "\(workload), locally: \(outcome.output)") }
        var files: [String: Data] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: local.path) ?? .init() {
            let path = "\(local.path)/\(name)"
            if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
                files[name] = Data(target.utf8)
            } else if (try? FileManager.default.contentsOfDirectory(atPath: path)) == nil {
                files[name] = try Data(contentsOf: URL(fileURLWithPath: path))
            }
        }
        return files
    }

    private static func differences(_ found: [String: Data], _ expected: [String: Data]) -> [String] {
        Set(found.keys).union(expected.keys).sorted().compactMap { name in
            guard found[name] != expected[name] else { return nil }
            guard let found = found[name] else { return "\(name) is missing" }
            guard let expected = expected[name] else { return "\(name) is there" }
            return "\(name) has other bytes (\(found.count), not \(expected.count))"
        }
    }

    /// Every object must be whole in its old or new version, and no content may be lost that should be there still.
    private static func damage(
        _ found: [String: Data], before: [String: Data], after: [String: Data]
    ) -> [String] {
        // Names of the tools' own making (`sedXXXXXX`, `.file.XXXXXX`) may hold any whole content, or be just made.
        let whole = Set(before.values).union(after.values).union([Data()])
        var problems = found.sorted { $0.key < $1.key }.compactMap { name, bytes -> String? in
            let allowed = [before[name], after[name]].compactMap(\.self)
            let isKnown = !allowed.isEmpty
            let isRight =
                isKnown
                ? allowed.contains(bytes) || name != "kept" && bytes.isEmpty && before[name] == nil
                : whole.contains(bytes)
            return isRight ? nil : "\(name) has \(bytes.count) bytes that are neither the old nor the new ones"
        }
        for (name, bytes) in before where found[name] == nil {
            if after[name] != nil { problems.append("\(name) is lost") }
            // Renamed: it must be under the one name or the other.
            let homes = after.filter { $0.value == bytes }.map(\.key)
            if after[name] == nil, !homes.isEmpty, !homes.contains(where: { found[$0] == bytes }) {
                problems.append("\(name) is under neither its old nor its new name")
            }
        }
        return problems
    }
}
