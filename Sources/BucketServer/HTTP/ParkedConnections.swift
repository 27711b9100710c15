import CMicrohttpd
import Dispatch
import Locking

/// Connections that wait on purpose: a fault holds them, no thread does. Any thread may call it.
final class ParkedConnections: Sendable {
    // Unchecked: libmicrohttpd lets any thread resume a suspended connection.
    @safe
    private struct Connection: @unchecked Sendable {
        let raw: OpaquePointer
    }

    private struct State {
        var parked: [UInt64: Connection] = [:]
        var nextTicket: UInt64 = 0
        var isClosed = false
    }

    // Held while libmicrohttpd is told: a connection is suspended as long as it is in the table, and no longer.
    private let state = Lock(State())

    /// Suspends the connection for a while; not at all once the server is stopping. To be called from its own callback.
    func park(_ connection: OpaquePointer, for duration: Duration) {
        let ticket: UInt64? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.nextTicket += 1
            state.parked[state.nextTicket] = unsafe Connection(raw: connection)
            unsafe MHD_suspend_connection(connection)
            return state.nextTicket
        }
        guard let ticket else { return }
        // Longer than any test waits, and far from where the sum below would overflow.
        let (seconds, attoseconds) = min(duration, .seconds(86_400)).components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { self.resume(ticket) }
    }

    /// Lets everybody go on; libmicrohttpd does not stop while a connection is suspended.
    func close() {
        state.withLock { state in
            state.isClosed = true
            for connection in state.parked.values { unsafe MHD_resume_connection(connection.raw) }
            state.parked = [:]
        }
    }

    private func resume(_ ticket: UInt64) {
        state.withLock { state in
            guard let connection = state.parked.removeValue(forKey: ticket) else { return }
            unsafe MHD_resume_connection(connection.raw)
        }
    }
}
