import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

@Suite struct InterruptedRenamingTests {
    private static let objects = (0..<6).map { ("d/f\($0)", "text \($0)") }
    private static let moved = (0..<6).map { ObjectName("e/f\($0)") }

    @Test func aRenamingLeavesNoMark() async throws {
        let bench = Bench(objects: Self.objects)
        try await bench.rename("d", to: "e")
        #expect(bench.store.names == Self.moved)
    }

    @Test func aFailedRenamingLeavesNoMark() async throws {
        let bench = Bench(objects: Self.objects)
        bench.failing.fail(.copy, call: 3, with: .serverFailed)
        #expect(await failure { try await bench.rename("d", to: "e") }?.word == "storage")
        #expect(bench.store.names.map(\.description) == Self.objects.map(\.0))
    }

    /// As `kill -9` leaves it: some are copied, or all and some are deleted.
    @Test(arguments: [StoreOperation.copy, .delete])
    func aSecondRenamingFinishesAnInterruptedOne(during operation: StoreOperation) async throws {
        let bench = Bench(objects: Self.objects)
        bench.store.hold(operation)
        let first = Task { try await bench.rename("d", to: "e") }
        await bench.store.waitUntilHeld(operation, count: 6)
        for _ in 0..<3 { bench.store.releaseOne(operation) }
        // The rest never happens.
        let later = Bench(over: bench.store.copy())
        #expect(later.store.names.count > 6)
        try await later.rename("d", to: "e")
        #expect(later.store.names == Self.moved)
        #expect(try await later.read("e/f5") == "text 5")
        bench.store.release(operation)
        try await first.value
    }

    @Test func whoMayNotLeaveAMarkRenamesAllTheSame() async throws {
        let bench = Bench(objects: Self.objects)
        bench.failing.fail(.insert, with: .forbidden)
        try await bench.rename("d", to: "e")
        #expect(bench.store.names == Self.moved)
    }

    /// Where copying is allowed and deleting is not, there shall not be two folders.
    @Test func aRenamingThatMayDeleteNothingIsTakenBack() async throws {
        let bench = Bench(objects: Self.objects)
        for call in 1...12 { bench.failing.fail(.delete, call: call, with: .forbidden) }
        #expect(await failure { try await bench.rename("d", to: "e") }?.word == "storage")
        bench.failing.stopFailing()
        #expect(bench.store.names.map(\.description) == Self.objects.map(\.0))
        #expect(try await bench.read("d/f5") == "text 5")
        #expect(await !bench.exists("e"))
        try await bench.rename("d", to: "e")
        #expect(bench.store.names == Self.moved)
    }

    @Test func whatOnceCannotBeDeletedIsTriedAgain() async throws {
        let bench = Bench(objects: Self.objects)
        bench.failing.fail(.delete, call: 2, with: .forbidden)
        bench.failing.fail(.delete, call: 4, with: .preconditionFailed)
        try await bench.rename("d", to: "e")
        #expect(bench.store.names == Self.moved)
    }

    @Test func foldersThatNoRenamingLeftAreNotMerged() async throws {
        let bench = Bench(objects: Self.objects + [("e/g", "x")])
        #expect(await failure { try await bench.rename("d", to: "e") }?.word == "directoryNotEmpty")
    }
}
