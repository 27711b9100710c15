extension RulesValue {
    /// As `debug()` writes it: the type, then the value, cut where it gets long.
    var debugText: String {
        var text = ""
        write(to: &text)
        let isLong = text.utf8.count > Self.longestText
        return "\(typeName)_value: " + (isLong ? text.prefix(Self.longestText) + "…" : text)
    }

    private static let longestText = 1_000

    private func write(to text: inout String) {
        guard text.utf8.count <= Self.longestText else { return }
        switch self {
        case .null: text += "null"
        case .unknown: text += "unknown"
        case .bool(let value): text += "\(value)"
        case .integer(let value): text += "\(value)"
        case .float(let value): text += "\(value)"
        case .string(let value): text += "\"\(value.prefix(Self.longestText))\""
        case .bytes(let bytes): text += "\(bytes.count) bytes"
        case .time(let time): text += "\(time.milliseconds) ms since 1970"
        case .duration(let span): text += "\(span.seconds) s"
        case .list(let items): Self.write(items, "[", "]", to: &text)
        case .set(let items): Self.write(items, "{", "}", to: &text)
        case .map(let entries):
            text += "{"
            for (offset, entry) in entries.sorted(by: { $0.key < $1.key }).enumerated() {
                text += offset > 0 ? ", " : ""
                text += "\"\(entry.key.prefix(Self.longestText))\": "
                entry.value.write(to: &text)
            }
            text += "}"
        case .mapDiff(let diff):
            text += "\(diff.added.count) added, \(diff.removed.count) removed, \(diff.changed.count) changed"
        case .path(let path): text += path.description
        case .latlng(let latitude, let longitude): text += "\(latitude), \(longitude)"
        }
    }

    private static func write(_ items: [RulesValue], _ opening: String, _ closing: String, to text: inout String) {
        text += opening
        for (offset, item) in items.enumerated() {
            guard text.utf8.count <= longestText else { break }
            text += offset > 0 ? ", " : ""
            item.write(to: &text)
        }
        text += closing
    }
}
