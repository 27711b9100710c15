import Locking
package import ObjectStore

/// The uploads under way in a mount, for lists and commands. Any thread may call it.
package final class TransferRegistry: Sendable {
    package struct Entry: Sendable {
        package let name: ObjectName
        package let control: TransferControl
        package let begun: Timestamp
    }

    private struct State {
        var lastID: UInt64 = 0
        var entries: [TransferID: Entry] = [:]
        /// Also those that are still to come.
        var isPaused = false
        /// Nothing more is sent.
        var isClosed = false
    }

    private let state = Lock(State())

    /// In the order they began.
    package var entries: [Entry] {
        state.withLock { $0.entries.values.sorted { $0.control.id.rawValue < $1.control.id.rawValue } }
    }
    package var count: Int { state.withLock { $0.entries.count } }
    package var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Lists an upload to `name` until `end`; paused to begin with if all are.
    func begin(_ name: ObjectName, at begun: Timestamp) -> TransferControl {
        let (control, isPaused, isClosed) = state.withLock { state in
            state.lastID += 1
            let control = TransferControl(id: TransferID(rawValue: state.lastID))
            state.entries[control.id] = Entry(name: name, control: control, begun: begun)
            return (control, state.isPaused, state.isClosed)
        }
        if isPaused { control.pause() }
        if isClosed { control.cancel() }
        return control
    }

    func end(_ id: TransferID) { state.withLock { _ = $0.entries.removeValue(forKey: id) } }

    // MARK: The end

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Gives up what is under way and what is to come: it stays in the journal.
    package func close() {
        state.withLock { $0.isClosed = true }
        _ = perform(.cancel, on: nil)
    }

    // MARK: Commands

    package enum Command: String, Sendable { case pause, resume, cancel }

    /// - Parameter id: nil: all, and for pausing those to come.
    /// - Returns: false: there is no such transfer.
    package func perform(_ command: Command, on id: TransferID?) -> Bool {
        let controls = state.withLock { state -> [TransferControl] in
            guard id == nil else { return state.entries[id!].map { [$0.control] } ?? [] }
            switch command {
            case .pause: state.isPaused = true
            case .resume: state.isPaused = false
            case .cancel: break
            }
            return state.entries.values.map(\.control)
        }
        for control in controls {
            switch command {
            case .pause: control.pause()
            case .resume: control.resume()
            case .cancel: control.cancel()
            }
        }
        return id == nil || !controls.isEmpty
    }
}
