import ObjectStore

/// What a mount says of itself in `user.storage.status`: uploads under way, and what the bucket does not have, as JSON
/// (docs/SEMANTICS.md). Not longer than an extended attribute can be; what does not fit is counted.
struct MountStatus {
    let isPaused: Bool
    let transfers: [TransferRegistry.Entry]
    let unsaved: [JournalEntry]
    /// How much needs somebody's help to be stored, of earlier mounts too.
    let kept: Int
    /// The directory of the mount's own journal.
    let journal: String

    /// `XATTR_SIZE_MAX` is 64 KiB (linux/limits.h); the rest is for what stands around the lists.
    private static let room = 60_000

    var json: String {
        var room = Self.room
        let transfers = Self.list(transfers.map(Self.json), &room)
        let unsaved = Self.list(unsaved.map(Self.json), &room)
        return "{" + #""paused":\#(isPaused),"transfers":\#(transfers.text),"moreTransfers":\#(transfers.left),"#
            + #""unsaved":\#(unsaved.text),"moreUnsaved":\#(unsaved.left),"kept":\#(kept),"#
            + #""journal":\#(Self.quoted(journal))}"#
    }

    private static func list(_ items: [String], _ room: inout Int) -> (text: String, left: Int) {
        var taken: [String] = []
        for item in items {
            guard item.utf8.count < room else { break }
            room -= item.utf8.count + 1
            taken.append(item)
        }
        return ("[" + taken.joined(separator: ",") + "]", items.count - taken.count)
    }

    private static func json(_ entry: TransferRegistry.Entry) -> String {
        let progress = entry.control.progress
        let total = progress.total.map(String.init) ?? "null"
        let (id, object) = (entry.control.id.rawValue, quoted(entry.name))
        return #"{"id":\#(id),"object":\#(object),"state":"\#(entry.control.state)","#
            + #""sent":\#(progress.sent),"confirmed":\#(progress.confirmed),"total":\#(total),"#
            + #""begun":"\#(entry.begun.rfc3339())"}"#
    }

    private static func json(_ entry: JournalEntry) -> String {
        let size: Int64? = if case .content(let content) = entry.purpose { content.size } else { nil }
        let message = entry.message.map { quoted($0) } ?? "null"
        return #"{"id":\#(entry.id.rawValue),"object":\#(quoted(entry.object)),"state":"\#(entry.state)","#
            + #""size":\#(size.map(String.init) ?? "null"),"message":\#(message),"time":"\#(entry.time.rfc3339())"}"#
    }

    /// Bytes that are no UTF-8 show as U+FFFD.
    private static func quoted(_ name: ObjectName) -> String { quoted(String(decoding: name.bytes, as: UTF8.self)) }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
