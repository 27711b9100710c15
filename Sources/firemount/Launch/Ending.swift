import BucketFileSystem
import FUSEBridge
import Logging
import ObjectStore

/// From the moment the mount is gone from the tree to the moment everything is stored, or kept in the journal. Runs on
/// the main thread.
struct Ending {
    private let fileSystem: FileSystem
    private let log: Logger
    /// With no byte moving for so long, nothing more is tried.
    private let patience: Duration
    /// Where a signal ended the mount, one more hurries. Else the first is but a wish to end.
    private let signalsToHurry: Int
    private let start = ContinuousClock.now
    private var signalsAtStart = 0
    private var lastLeft: FileSystem.Left?
    private var lastMove = ContinuousClock.now
    private var isHurried = false

    init(_ fileSystem: FileSystem, _ end: MountEnd, patience: Duration, log: Logger) {
        self.fileSystem = fileSystem
        self.log = log
        self.patience = patience
        signalsToHurry = if case .signal = end { 1 } else { 2 }
    }

    /// Stores what is unsaved. Answers the names that could not be.
    /// - Parameter report: called now and then with what is left, in words.
    mutating func run(_ report: (String) -> Void) throws(SystemError) -> [ObjectName] {
        // Nobody would be left to resume it.
        _ = fileSystem.transfers.perform(.resume, on: nil)
        let fileSystem = self.fileSystem
        return try wait(each: Self.interval) {
            look(report)
        } for: {
            await fileSystem.shutDown()
        }
    }

    private static let interval = Duration.milliseconds(250)
    /// `timeout` and some terminals send a signal to a process and to its group: that is one.
    private static let sameSignal = Duration.seconds(1)

    private mutating func look(_ report: (String) -> Void) {
        let now = ContinuousClock.now
        if start.duration(to: now) < Self.sameSignal { signalsAtStart = Mount.furtherSignals }
        let left = fileSystem.left()
        if left != lastLeft {
            lastLeft = left
            lastMove = now
        }
        if !left.isNothing { report(left.words) }
        if Mount.furtherSignals - signalsAtStart >= signalsToHurry {
            hurry("another signal came")
        } else if lastMove.duration(to: now) > patience {
            hurry("nothing moved for \(patience.milliseconds / 1_000) s")
        }
    }

    private mutating func hurry(_ reason: String) {
        guard !isHurried else { return }
        isHurried = true
        log(.warning, "\(reason): what is not stored yet stays in the journal")
        fileSystem.transfers.close()
    }
}

extension FileSystem.Left {
    /// `3 files, 12.5 MiB to send: a, b, c`.
    var words: String {
        let shown = names.prefix(3).map { "\($0)" }.joined(separator: ", ") + (names.count > 3 ? " …" : "")
        let files = MountReport.count(names.count, "file")
        return "\(files), \(bytes > 0 ? "\(ByteText.of(bytes)) to send" : "all sent and not confirmed"): \(shown)"
    }
}
