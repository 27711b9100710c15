import Locking

/// What was asked of the server, for tests that count requests.
final class RequestLog: Sendable {
    struct Entry: Sendable {
        let operation: String
        let name: ObjectName?
        /// 0 when the connection was broken off on purpose.
        let status: Int
        /// The request's `Range`, `Content-Range` or `X-Goog-Upload-Offset`.
        let range: String?
    }

    private struct State {
        var counts: [String: Int64] = [:]
        var bytesReceived: Int64 = 0
        var bytesSent: Int64 = 0
        /// A ring: `next` is the oldest once it is full.
        var entries: [Entry] = []
        var next = 0
    }

    static let capacity = 2000

    private let state = Lock(State())

    /// A request has arrived.
    func began(_ operation: String) { state.withLock { $0.counts[operation, default: 0] += 1 } }

    /// A request is about to be answered.
    func ended(_ entry: Entry, bytesReceived: Int64, bytesSent: Int64) {
        state.withLock { state in
            state.bytesReceived += bytesReceived
            state.bytesSent += bytesSent
            if state.entries.count < Self.capacity {
                state.entries.append(entry)
            } else {
                state.entries[state.next] = entry
                state.next = (state.next + 1) % Self.capacity
            }
        }
    }

    func reset() { state.withLock { $0 = State() } }

    /// `GET /_firemount/requests`.
    func document() -> [UInt8] {
        let state = state.withLock { $0 }
        var json = JSONWriter()
        json.object { json in
            json.object("counts") { json in
                for (operation, count) in state.counts.sorted(by: { $0.key < $1.key }) {
                    json.key(operation)
                    json.number(nil, count)
                }
            }
            json.number("bytesReceived", state.bytesReceived)
            json.number("bytesSent", state.bytesSent)
            json.array("log") { json in
                for entry in state.entries[state.next...] + state.entries[..<state.next] { write(entry, to: &json) }
            }
        }
        return json.bytes
    }

    private func write(_ entry: Entry, to json: inout JSONWriter) {
        json.object { json in
            json.string("operation", entry.operation)
            if let name = entry.name { json.string("name", utf8: name.bytes) } else { json.null("name") }
            json.number("status", Int64(entry.status))
            if let range = entry.range { json.string("range", range) } else { json.null("range") }
        }
    }
}
