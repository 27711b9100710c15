import FUSEBridge
import Glibc

/// `firemount status`: what mounts are doing, and what the bucket does not have.
struct StatusCommand {
    /// Absolute; nil: all mounts of this user.
    let mountPoint: String?
    let request: StatusRequest

    /// Returns the exit status: 1 if something is not stored without somebody's help, or a mount is dead.
    func run() throws(CommandFailure) -> Int32 {
        let isTerminal = isatty(STDOUT_FILENO) != 0
        while true {
            let sections = try self.sections(bars: request.drawsBars || isTerminal)
            // From the top left, and nothing of what was there before (ECMA-48: CUP, ED).
            let start = request.watches && isTerminal && !request.printsJSON ? "\u{1B}[H\u{1B}[2J" : ""
            let texts = sections.map(\.text)
            printLine(start + (request.printsJSON ? "[\(texts.joined(separator: ","))]" : Self.lines(texts)))
            guard request.watches else { return sections.allSatisfy(\.isWell) ? 0 : 1 }
            usleep(1_000_000)
        }
    }

    private static func lines(_ texts: [String]) -> String {
        texts.isEmpty ? "No bucket of yours is mounted." : texts.joined(separator: "\n")
    }

    /// What is said of one mount.
    private struct Section {
        let text: String
        let isWell: Bool
    }

    private func sections(bars: Bool) throws(CommandFailure) -> [Section] {
        let table = try MountPoint.table()
        guard let mountPoint else {
            let user = geteuid()
            let mounts = table.entries.filter { $0.isFiremount && ($0.userID ?? 0) == user }
            return mounts.compactMap { askedByAnother($0, bars: bars) }
        }
        let path = try MountPoint.mounted(mountPoint)
        guard let entry = table.entry(at: path), entry.isFiremount else {
            throw CommandFailure("no bucket is mounted at \(mountPoint); firemount status lists what is")
        }
        return [section(of: entry, bars: bars)]
    }

    /// Asks a mount; one that hangs keeps this process waiting.
    private func section(of mount: MountTable.Entry, bars: Bool) -> Section {
        do throws(MountControl.Refusal) {
            let json = try MountReport.text(of: mount.mountPoint)
            guard let report = MountReport(parsing: json) else {
                return problem("it speaks another version's language", of: mount)
            }
            let recover = "firemount recover \(mount.mountPoint)"
            let kept = report.keptLine(recover: recover)
            let text =
                request.printsJSON
                ? jsonText(mount, "\"status\":\(json)" + (kept == nil ? "" : ",\"recover\":\(Self.quoted(recover))"))
                : (["\(mount.source) on \(mount.mountPoint): \(report.summary)"] + report.lines(bars: bars)
                    + (kept.map { ["  " + $0] } ?? []))
                    .joined(separator: "\n")
            return Section(text: text, isWell: report.isWell)
        } catch {
            return problem(
                error.code == ENOTCONN
                    ? "its process is gone; mount it again, or firemount unmount \(mount.mountPoint)" : "\(error)",
                of: mount)
        }
    }

    /// The same, where the others are to be shown also if this one hangs. nil: it is unmounted by now.
    private func askedByAnother(_ mount: MountTable.Entry, bars: Bool) -> Section? {
        let options = (request.printsJSON ? ["--json"] : []) + (bars ? ["--bars"] : [])
        switch MountInquiry.ask(mount.mountPoint, options: options) {
        case .said(let text, let isWell):
            return Section(text: request.printsJSON ? String(text.dropFirst().dropLast()) : text, isWell: isWell)
        case .unmounted: return nil
        case .hangs:
            return problem("it does not answer; firemount status \(mount.mountPoint) waits for it", of: mount)
        case .unasked: return problem("it cannot be asked", of: mount)
        }
    }

    private func problem(_ words: String, of mount: MountTable.Entry) -> Section {
        Section(
            text: request.printsJSON
                ? jsonText(mount, "\"problem\":\(Self.quoted(words))")
                : "\(mount.source) on \(mount.mountPoint): \(words)", isWell: false)
    }

    private func jsonText(_ mount: MountTable.Entry, _ rest: String) -> String {
        "{\"mountPoint\":\(Self.quoted(mount.mountPoint)),\"source\":\(Self.quoted(mount.source)),\(rest)}"
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"", "\\": return "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: return String(scalar)
            }
        }
        return "\"" + escaped.joined() + "\""
    }
}
