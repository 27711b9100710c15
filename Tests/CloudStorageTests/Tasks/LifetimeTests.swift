import Foundation
import Locking
import ObjectStore
import TestSupport
import Testing

@testable import CloudStorage

/// Tasks go when they are done, or when nobody can do anything with them.
struct LifetimeTests {
    private final class Weakly: Sendable {
        weak let task: StorageTask?
        /// What a task leaves behind must go as well.
        weak let download: Download?

        init(_ task: StorageTask) {
            self.task = task
            download = (task as? StorageDownloadTask)?.download
        }
    }

    private let store = InMemoryStore()
    private let test: TestStorage
    private let folder = temporaryDirectory()

    init() {
        test = TestStorage(store)
        store.put("object", Array("hello".utf8))
    }

    private func start(_ number: Int) -> any StorageObservableTask & StorageTaskManagement {
        let file = URL(fileURLWithPath: "\(folder.path)/\(number % 7)")
        return switch number % 4 {
        case 0: test.reference("up/\(number)").putData(Data("x".utf8), metadata: nil) { _, _ in }
        case 1: test.reference("object").getData(maxSize: 10) { _, _ in }
        case 2: test.reference("object").write(toFile: file)
        default: test.reference("missing").getData(maxSize: 10) { _, _ in }
        }
    }

    @Test func ofAThousandTasksNoneIsLeft() async throws {
        var tasks: [Weakly] = []
        for number in 0..<1_000 {
            let task = start(number)
            task.observe(.progress) { snapshot in _ = snapshot.task.snapshot }
            task.observe(.success) { _ in }
            switch number % 5 {
            case 0: task.pause()
            case 1: task.cancel()
            case 2:
                task.pause()
                task.resume()
            default: break
            }
            tasks.append(Weakly(task))
        }
        await eventually { [tasks] in tasks.allSatisfy { $0.task == nil && $0.download == nil } }
    }

    @Test func aTaskThatNobodyHoldsIsDone() async throws {
        store.hold(.insert)
        test.reference("x").putData(Data("x".utf8))
        await store.waitUntilHeld(.insert)
        store.release(.insert)
        await eventually { store.bytes(of: ObjectName("x")) != nil }
    }
}
