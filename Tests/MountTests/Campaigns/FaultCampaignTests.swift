import Foundation
import Synchronization
import Testing

/// Whatever request fails, however: either the tool succeeded and the bucket is right, or it said so and nothing that
/// was stored is damaged. CI tries a part; `FIREMOUNT_CAMPAIGN=all` everything (scripts/soak), and a part of a case's
/// description the cases that have it. `FIREMOUNT_CAMPAIGN_SERVER=firebase` speaks the other protocol.
@Suite(.serialized) struct FaultCampaignTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let wanted = environment["FIREMOUNT_CAMPAIGN"]
    private static let server = Server.allCases.first { "\($0)" == environment["FIREMOUNT_CAMPAIGN_SERVER"] } ?? .local
    /// One of so many cases is tried.
    private static let share = wanted == nil ? 101 : 1
    private static let mounts = wanted == nil ? 4 : 8

    @Test func noFailedRequestDamagesWhatIsStored() throws {
        let bench = try (0..<Self.mounts).map { _ in
            try MountedBucket(on: Self.server, options: FaultCampaign.options)
        }
        defer { for mounted in bench { mounted.tearDown() } }
        let campaigns = bench.map { FaultCampaign($0) }
        let all = try Workload.all.flatMap { try campaigns[0].cases(of: $0) }
        let chosen = all.enumerated().filter { index, one in
            index % Self.share == 0 && [nil, "all"].contains(Self.wanted) || Self.wanted.map("\(one)".contains) == true
        }.map(\.element)
        let next = Atomic(0)
        let failures = Mutex<[String]>([])
        // The tools block; each mount has a thread of its own that runs one case after the other.
        DispatchQueue.concurrentPerform(iterations: Self.mounts) { index in
            while true {
                let number = next.add(1, ordering: .relaxed).oldValue
                guard number < chosen.count else { return }
                do {
                    for violation in try campaigns[index].run(chosen[number]) { print("violation:", violation) }
                } catch {
                    failures.withLock { $0.append("\(chosen[number]): \(error)") }
                }
                if Self.wanted != nil, number % 250 == 249 {
                    print("fault campaign: \(number + 1) of \(chosen.count) cases")
                }
            }
        }
        let reports = campaigns.map(\.result)
        let violations = reports.flatMap(\.violations)
        print(
            "fault campaign: \(reports.map(\.runs).reduce(0, +)) runs of \(all.count) cases, "
                + "\(reports.map(\.successes).reduce(0, +)) tools succeeded, \(violations.count) violations")
        #expect(violations.isEmpty, "\(violations.prefix(20).joined(separator: "\n\n"))")
        #expect(failures.withLock { $0 } == [])
    }
}
