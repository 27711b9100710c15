import FUSEBridge
import FoundationEssentials

/// What a mount says of itself (`user.storage.status`, docs/SEMANTICS.md).
struct MountReport: Decodable, Equatable {
    struct Transfer: Decodable, Equatable {
        let id: UInt64
        let object: String
        /// `running`, `paused` or `cancelled`.
        let state: String
        let sent: Int64
        let confirmed: Int64
        /// nil: it is still being written.
        let total: Int64?
    }

    struct Unsaved: Decodable, Equatable {
        let object: String
        /// `open`, `sealed`, `conflict` or `failed`.
        let state: String
        let size: Int64?
        let message: String?
    }

    let paused: Bool
    let transfers: [Transfer]
    let moreTransfers: Int
    let unsaved: [Unsaved]
    let moreUnsaved: Int
    /// How much needs somebody's help, of earlier mounts too; nil where the mount does not say.
    let kept: Int?
    /// Its directory; nil where the mount does not say.
    let journal: String?

    /// The JSON as it came.
    static func text(of mountPoint: String) throws(MountControl.Refusal) -> String {
        String(decoding: try MountControl.read("user.storage.status", of: mountPoint), as: UTF8.self)
    }

    /// nil: not what we know, as from a mount of another version.
    init?(parsing text: String) {
        guard let report = try? JSONDecoder().decode(MountReport.self, from: Data(text.utf8)) else { return nil }
        self = report
    }

    /// For people, a line each.
    /// - Parameter bars: for a terminal.
    func lines(bars: Bool) -> [String] {
        var lines = transfers.map { $0.line(bars: bars) }
        if moreTransfers > 0 { lines.append("  … and \(moreTransfers) more uploads") }
        let sending = Set(transfers.map(\.object))
        lines += unsaved.filter { $0.isFailure || !sending.contains($0.object) }.map(\.line)
        if moreUnsaved > 0 { lines.append("  … and \(moreUnsaved) more that are not stored") }
        return lines
    }

    /// Nothing is the matter that somebody must see to.
    var isWell: Bool { kept ?? 0 == 0 && !unsaved.contains(where: \.isFailure) }

    /// nil: nothing is kept.
    func keptLine(recover command: String) -> String? {
        guard let kept, kept > 0 else { return nil }
        return "\(Self.count(kept, "file")) that could not be stored \(kept == 1 ? "is" : "are") kept: \(command)"
    }

    var summary: String {
        let failed = unsaved.filter(\.isFailure).count
        var parts = [Self.count(transfers.count + moreTransfers, "upload")]
        if unsaved.count + moreUnsaved > 0 { parts.append("\(unsaved.count + moreUnsaved) not stored yet") }
        if failed > 0 { parts.append("\(failed) failed") }
        if paused { parts.append("paused") }
        return parts.joined(separator: ", ")
    }

    static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : number == 0 ? "no \(noun)s" : "\(number) \(noun)s"
    }
}

extension MountReport.Transfer {
    /// `  12  [######----]  60 %  3.0 of 5.0 MiB  photos/a.mov`.
    func line(bars: Bool) -> String {
        var parts = ["  \(id)"]
        if let total {
            let share = total == 0 ? 1 : min(1, max(0, Double(sent) / Double(total)))
            if bars { parts.append(ProgressBar.text(share, cells: 20)) }
            parts.append("\(Int(share * 100)) %")
            parts.append("\(ByteText.of(sent)) of \(ByteText.of(total))")
        } else {
            parts.append("\(ByteText.of(sent)) so far")
        }
        if state != "running" { parts.append(state) }
        return (parts + [printable(object)]).joined(separator: "  ")
    }
}

extension MountReport.Unsaved {
    var isFailure: Bool { state == "conflict" || state == "failed" }

    var line: String {
        let what =
            switch state {
            case "open": "being written"
            case "sealed": "waiting"
            case "conflict": "conflict"
            case "failed": "failed"
            default: state
            }
        let size = self.size.map { "  \(ByteText.of($0))" } ?? ""
        return "  -  \(what)\(size)  \(printable(object))" + (message.map { ": \(printable($0))" } ?? "")
    }
}

enum ProgressBar {
    static func text(_ share: Double, cells: Int) -> String {
        let full = Int(Double(cells) * share)
        return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: cells - full) + "]"
    }
}

enum ByteText {
    /// `812 B`, `3.4 MiB`.
    static func of(_ count: Int64) -> String {
        var value = Double(count)
        var unit = 0
        while value >= 1_024, unit < 4 {
            value /= 1_024
            unit += 1
        }
        guard unit > 0 else { return "\(count) B" }
        let tenths = Int64((value * 10).rounded(.down))
        return "\(tenths / 10).\(tenths % 10) \(["B", "KiB", "MiB", "GiB", "TiB"][unit])"
    }
}

/// Names may hold what a terminal would obey.
private func printable(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }))
}
