import BucketFileSystem
import FUSEBridge
import Glibc
import Logging
import ObjectStore

/// `firemount recover`: what was acknowledged and never reached the bucket. Where a mount has the journal it is asked;
/// otherwise the journal is opened here, and the bucket is spoken to as a mount would.
struct RecoverCommand {
    let request: RecoverRequest
    let environment: ProcessEnvironment
    private let search: JournalSearch

    init(_ request: RecoverRequest, _ environment: ProcessEnvironment) {
        self.request = request
        self.environment = environment
        search = JournalSearch(request.mount, environment)
    }

    func run() throws(CommandFailure) -> Int32 {
        switch request.action {
        case .list(let target, let asJSON): list(try search.findings(of: target), asJSON)
        case .retry(let target): return retry(try search.findings(of: target))
        case .retryOne(let id): try perform(.retry, on: try find(id))
        case .discard(let id): try perform(.discard, on: try find(id))
        case .store(let id, let name): try perform(.store(ObjectName(name)), on: try find(id))
        case .export(let id, let path, let isAlone):
            try export(try find(id), into: environment.absolutePath(path), isAlone: isAlone)
        }
        return 0
    }

    // MARK: Looking

    private func list(_ findings: JournalSearch.Findings, _ asJSON: Bool) {
        let lines = findings.views.flatMap { view in view.unsaved.map { RecoverLine(view, $0) } }
        if asJSON { return printLine(RecoverLine.json(lines)) }
        guard !lines.isEmpty else { return printLine(findings.nothing) }
        for line in RecoverLine.table(lines) { printLine(line) }
    }

    private struct Found {
        var view: JournalView
        var entry: JournalEntry
        var id: String { view.name(of: entry) }
    }

    private func find(_ id: String) throws(CommandFailure) -> Found {
        let found = try search.find { view in
            view.entries.first { view.name(of: $0) == id }.map { Found(view: view, entry: $0) }
        }
        guard let found else { throw CommandFailure("there is no entry \(id); firemount recover lists them") }
        return found
    }

    // MARK: Acting

    private enum Deed {
        case retry, discard
        case store(ObjectName)

        func line(_ id: String) -> String {
            switch self {
            case .retry: "retry \(id)"
            case .discard: "discard \(id)"
            case .store(let name): "store \(id) \(name)"
            }
        }
    }

    private func retry(_ findings: JournalSearch.Findings) -> Int32 {
        if findings.views.allSatisfy(\.unsaved.isEmpty) { printLine(findings.nothing) }
        var failures = 0
        for view in findings.views {
            for entry in view.unsaved {
                do throws(CommandFailure) {
                    try perform(.retry, on: Found(view: view, entry: entry))
                } catch {
                    failures += 1
                    printLine("firemount: \(error.message)", to: STDERR_FILENO)
                }
            }
        }
        return failures == 0 ? 0 : 1
    }

    private func perform(_ deed: Deed, on found: Found) throws(CommandFailure) {
        if found.view.isInUse { return try tellMount(deed, found) }
        let journal = try opened(found.view)
        if case .discard = deed {
            do throws(FileSystemError) {
                try Recovery([journal], store: nil, log: log).discard(found.id)
            } catch {
                throw CommandFailure("\(found.id): \(error.words)")
            }
            return _ = journal.removeIfEmpty()
        }
        try withStore(for: found.view.owner) { store in
            let recovery = Recovery([journal], store: store, log: log)
            if case .store(let name) = deed {
                try await recovery.store(found.id, as: name)
            } else {
                _ = try await recovery.retry(found.id)
            }
        }
        _ = journal.removeIfEmpty()
    }

    private func opened(_ view: JournalView) throws(CommandFailure) -> Journal {
        let journal: Journal?
        do throws(FileSystemError) {
            let directory = try JournalDirectory.open(view.path)
            journal = try directory.map { (directory) throws(FileSystemError) in try Journal(opening: directory) }
        } catch {
            throw CommandFailure(error.words)
        }
        guard let journal else { throw CommandFailure("a mount has just begun to use \(view.path); try again") }
        return journal
    }

    private func tellMount(_ deed: Deed, _ found: Found) throws(CommandFailure) {
        guard let mountPoint = found.view.mountPoint else {
            throw CommandFailure("\(found.id) belongs to a mount that is just starting; try again")
        }
        do throws(MountControl.Refusal) {
            try MountControl.write(Array(deed.line(found.id).utf8), to: "user.storage.control", of: mountPoint)
        } catch {
            let message = (try? find(found.id))?.entry.message
            throw CommandFailure(
                "\(found.id) (\(found.entry.object)): \(message ?? error.description); the log of the mount at "
                    + "\(mountPoint) tells more")
        }
    }

    private func export(_ found: Found, into path: String, isAlone: Bool) throws(CommandFailure) {
        guard case .content(let content) = found.entry.purpose else {
            throw CommandFailure("\(found.id) is a change of metadata alone")
        }
        let file: Descriptor
        do throws(SystemError) {
            file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        } catch {
            throw CommandFailure("cannot make \(path): \(error)")
        }
        do throws(CommandFailure) {
            try export(found, content, into: file.number, of: path, isAlone: isAlone)
        } catch {
            unsafe unlink(path)
            throw error
        }
        _ = consume file
        guard isAlone, content.showsBase else { return }
        let ranges = content.written.map { "\($0.lowerBound)-\($0.upperBound - 1)" }
        printLine(
            "Of the \(content.size) bytes of \(path) these were written here, the rest are zeros: "
                + (ranges.isEmpty ? "none" : ranges.joined(separator: ", ")))
    }

    private func export(
        _ found: Found, _ content: StagedContent, into number: Int32, of path: String, isAlone: Bool
    ) throws(CommandFailure) {
        let write = { @Sendable (bytes: UnsafeRawBufferPointer) throws(FileSystemError) in
            do throws(SystemError) { try unsafe writeAll(Array(bytes), to: number) } catch {
                throw .staging("cannot write \(path): \(error)")
            }
        }
        let journal: Journal
        do throws(FileSystemError) { journal = try Journal(viewing: found.view) } catch {
            throw CommandFailure(error.words)
        }
        guard content.showsBase, !isAlone else {
            return try finish {
                try unsafe await Recovery([journal], store: nil, log: log)
                    .export(found.id, isAlone: isAlone, into: write)
            }
        }
        try withStore(for: found.view.owner) { store in
            do {
                try unsafe await Recovery([journal], store: store, log: log).export(found.id, into: write)
            } catch FileSystemError.stale {
                throw CommandFailure(
                    "the version of \(found.entry.object) that the rest of \(found.id) comes from is gone; "
                        + "firemount recover export --written-only \(found.id) FILE saves what was written here")
            }
        }
    }

    // MARK: The bucket

    private var log: Logger {
        Logger(level: .error) { _, line in printLine("firemount: \(line)", to: STDERR_FILENO) }
    }

    /// As a mount would reach it.
    private func withStore(
        for owner: JournalOwner, _ body: @escaping @Sendable (any ObjectStore) async throws -> Void
    ) throws(CommandFailure) {
        try JournalBucket(owner, request.mount, environment).withStore(log: log) { (store) throws(CommandFailure) in
            try finish { try await body(store) }
        }
    }

    private func finish(_ body: @escaping @Sendable () async throws -> Void) throws(CommandFailure) {
        let result: Result<Void, any Error>?
        do throws(SystemError) {
            result = try wait(atMost: nil) {
                do { return .success(try await body()) } catch { return .failure(error) }
            }
        } catch {
            throw CommandFailure("cannot wait for the bucket: \(error)")
        }
        guard case .failure(let error) = result else { return }
        if let failure = error as? CommandFailure { throw failure }
        throw CommandFailure((error as? FileSystemError)?.words ?? "\(error)")
    }
}
