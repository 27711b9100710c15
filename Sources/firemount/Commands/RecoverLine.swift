import BucketFileSystem
import FoundationEssentials
import ObjectStore

/// One entry of a journal, as `firemount recover` lists it.
struct RecoverLine: Encodable {
    let id: String
    let bucket: String
    let object: String
    let state: String
    /// Bytes; nil: a change of metadata alone.
    let size: Int64?
    let message: String?
    /// RFC 3339.
    let time: String
    /// The mount that has it, if one does.
    let mountPoint: String?

    init(_ view: JournalView, _ entry: JournalEntry) {
        id = view.name(of: entry)
        bucket = view.owner.bucket
        object = entry.object.description
        state =
            switch entry.state {
            case .open: "open"
            case .sealed: "waiting"
            case .conflict: "conflict"
            case .failed: "failed"
            }
        size = if case .content(let content) = entry.purpose { content.size } else { nil }
        message = entry.message
        time = entry.time.rfc3339()
        mountPoint = view.isInUse ? view.mountPoint : nil
    }

    static func json(_ lines: [RecoverLine]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Text and numbers alone can always be encoded.
        guard let data = try? encoder.encode(lines) else { preconditionFailure("\(lines)") }
        return String(decoding: data, as: UTF8.self)
    }

    /// With a line above that names the columns.
    static func table(_ lines: [RecoverLine]) -> [String] {
        let rows =
            [["ID", "STATE", "BYTES", "SINCE", "OBJECT"]]
            + lines.map { line in
                let reason = line.message.map { "  (\($0))" } ?? ""
                let size = line.size.map(String.init) ?? "metadata"
                return [line.id, line.state, size, line.time, "gs://\(line.bucket)/\(line.object)\(reason)"]
            }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
                + "  " + row[4]
        }
    }
}
