import Locking
import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem

/// Random operations, then a sudden end: what was acknowledged is there, in the bucket or in the journal.
struct KillModelTests {
    private struct Model {
        /// By name, what closes have acknowledged; nil: no such file.
        var closed: [String: String] = [:]
        var open: [(handle: HandleID, name: String, text: String, isChanged: Bool)] = []
    }

    @Test(arguments: [false, true], 0..<25)
    func whatWasAcknowledgedIsThereAfterAKill(writesBack: Bool, seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let bench = Bench({ $0.writesBack = writesBack }, objects: [("a", "from before"), ("b", "from before too")])
        var model = Model(closed: ["a": "from before", "b": "from before too"])
        for step in 0..<40 { try await work(bench, &model, step, &random) }
        await bench.files.afterwork.wait()
        let next = try bench.afterKill()
        try await next.recover()

        for name in Self.names { #expect(next.stored(name) == model.closed[name], "\(name)") }
        let items = try #require(next.files.unsaved).items()
        for file in model.open where file.isChanged && !file.text.isEmpty {
            let item = try #require(items.first { $0.entry.object == ObjectName(file.name) }, "\(file.name)")
            let bytes = Collected()
            try unsafe await next.files.unsaved?.export(item.name) { piece in
                bytes.text.withLock { unsafe $0 += String(decoding: piece, as: UTF8.self) }
            }
            #expect(bytes.text.withLock { $0 } == file.text, "\(file.name)")
        }
        #expect(items.count == model.open.filter { $0.isChanged && !$0.text.isEmpty }.count)
    }

    private final class Collected: Sendable { let text = Lock("") }

    private static let names = ["a", "b", "c", "d"]

    private func work(
        _ bench: Bench, _ model: inout Model, _ step: Int, _ random: inout SplitMix64
    ) async throws {
        let name = Self.names.randomElement(using: &random)!
        let isOpen = model.open.contains { $0.name == name }
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where !isOpen:
            let truncates = Bool.random(using: &random)
            let handle = try await bench.openForWriting(name, truncates: truncates)
            let isNew = model.closed[name] == nil
            let text = truncates ? "" : model.closed[name] ?? ""
            model.open.append((handle, name, text, isNew || truncates))
        case 1, 2, 3:
            guard let index = model.open.indices.randomElement(using: &random) else { return }
            let text = "<\(step)>"
            let appends = Bool.random(using: &random)
            try bench.write(model.open[index].handle, text, at: 0, appends: appends)
            let old = model.open[index].text
            model.open[index].text = appends ? old + text : text + old.dropFirst(text.count)
            model.open[index].isChanged = true
        case 4, 5:
            guard let index = model.open.indices.randomElement(using: &random) else { return }
            let file = model.open.remove(at: index)
            try await bench.close(file.handle)
            if file.isChanged { model.closed[file.name] = file.text }
        case 6 where !isOpen && model.closed[name] != nil:
            let target = Self.names.randomElement(using: &random)!
            guard target != name, !model.open.contains(where: { $0.name == target }) else { return }
            try await bench.rename(name, to: target)
            model.closed[target] = model.closed.removeValue(forKey: name)
        case 7 where !isOpen && model.closed[name] != nil:
            try await bench.unlink(name)
            model.closed[name] = nil
        default: break
        }
    }
}
