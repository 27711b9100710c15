import Locking
import Logging
import ObjectStore

/// What is known of the bucket's way to join objects.
struct AppendingState {
    /// The bucket has refused to join objects.
    var isUnsupported = false
    /// When the caller was last refused what it takes.
    var forbiddenAt: Instant?
    /// What an earlier mount may have left was looked for.
    var hasSwept = false
}

/// Bytes added at the end of a large object: only they are sent, as an object of their own that the bucket joins to the
/// first one. No part of it is ever seen under the object's name.
extension FileSystem {
    /// Where the added bytes are until they are joined: below the mount's root, not shown, swept if one is left over.
    static let tailFolder = ownFolder + Array("/tails".utf8)

    /// What mounts keep in the bucket for themselves lies below it, in the mount's root; it is not shown.
    static let ownFolder = Array(".firemount".utf8)

    /// Whether `snapshot` is the object of `record` with more behind it.
    func grows(_ record: FileRecord, _ snapshot: FileContents.Snapshot) -> Bool {
        snapshot.size > snapshot.untouchedBase && snapshot.untouchedBase == record.metadata.size
            && record.metadata.size >= configuration.appendLimit && store.abilities.composes
            && (record.metadata.componentCount ?? 1) < Self.mostComponents
            && mayAppend
    }

    private var mayAppend: Bool {
        let now = clock.now()
        return appending.withLock { state in
            let isForbidden = state.forbiddenAt.map { now.elapsed(since: $0) < Self.forbiddenPause } ?? false
            return !state.isUnsupported && !isForbidden
        }
    }

    /// Permissions come and go, and take minutes to spread.
    private static let forbiddenPause = Duration.seconds(300)

    private func wasForbidden(_ error: StorageError) {
        log(.info, "\(error); for a while what is appended to is stored whole")
        let now = clock.now()
        appending.withLock { $0.forbiddenAt = now }
    }

    /// An object of more pieces is stored whole, and so begins anew.
    private static let mostComponents = 1_000

    /// nil: the bucket cannot.
    func append(
        _ snapshot: FileContents.Snapshot, of contents: FileContents, to record: FileRecord, _ headers: ObjectHeaders
    ) async throws(FileSystemError) -> ObjectMetadata? {
        let source = try await onStagingQueue { () throws(FileSystemError) in try TailSource(contents, snapshot) }
        let random = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let name = ObjectName(configuration.prefix.bytes + Self.tailFolder + Array("/\(random)".utf8))
        let upload = Upload(name: name, headers: ObjectHeaders(), precondition: .mustNotExist, source: source)
        let tail: ObjectMetadata
        do throws(StorageError) {
            tail = try await store.insert(upload)
        } catch {
            // Somebody may be allowed to write the object and nothing beside it.
            guard error.kind == .forbidden || error.kind == .unauthenticated else { throw FileSystemError(error) }
            wasForbidden(error)
            return nil
        }
        defer { afterwork.start { [self] in await removeTail(tail) } }
        return try await join(record, tail, source.crc32c, headers, contents)
    }

    private func join(
        _ record: FileRecord, _ tail: ObjectMetadata, _ checksum: UInt32, _ headers: ObjectHeaders,
        _ contents: FileContents
    ) async throws(FileSystemError) -> ObjectMetadata? {
        let object = record.metadata
        let composition = Composition(
            sources: [(object.name, object.objectGeneration), (tail.name, tail.objectGeneration)],
            destination: object.name, headers: headers, precondition: .unchanged(record))
        let size = object.size + tail.size
        let expected = object.crc32c.map {
            SentContent(size: size, crc32c: CRC32C.combine($0, checksum, length: tail.size))
        }
        let joined: ObjectMetadata
        do throws(StorageError) {
            joined = try await store.compose(composition)
        } catch {
            return try await afterFailure(error, to: object.name, expected, contents)
        }
        guard joined.size == size, joined.crc32c == nil || expected?.isThat(of: joined) ?? true else {
            throw .storage(
                StorageError(
                    .corrupted, operation: "compose", object: object.name,
                    message: "the bucket has joined something else: \(joined.size) bytes"))
        }
        return joined
    }

    /// nil: the bucket cannot.
    private func afterFailure(
        _ error: StorageError, to name: ObjectName, _ expected: SentContent?, _ contents: FileContents
    ) async throws(FileSystemError) -> ObjectMetadata? {
        switch error.kind {
        case .unsupported, .invalidRequest:
            log(.info, "the bucket does not join objects (\(error)); they are stored whole")
            appending.withLock { $0.isUnsupported = true }
            return nil
        case .forbidden:
            wasForbidden(error)
            return nil
        case .preconditionFailed:
            // What is in the way may be what an earlier try has made, of which no answer came.
            if let expected, contents.unanswered.contains(expected),
                let found = try? await store.metadata(of: name), expected.isThat(of: found)
            {
                return found
            }
        default:
            if let expected { contents.mayHaveStored(expected) }
        }
        throw FileSystemError(error)
    }

    private func removeTail(_ tail: ObjectMetadata) async {
        do throws(StorageError) {
            try await store.delete(tail.name, if: .mustBe(tail.objectGeneration))
        } catch {
            if error.kind != .notFound { log(.warning, "what was appended is left over in \(tail.name): \(error)") }
        }
        await sweepOnce(before: tail.timeCreated)
    }

    /// Removes what mounts that were killed have left. What is younger than a day may be another mount's: some file
    /// that was removed there and is still read.
    func sweepOnce(before now: Timestamp) async {
        let isFirst = appending.withLock { state in
            defer { state.hasSwept = true }
            return !state.hasSwept
        }
        guard isFirst else { return }
        let folder = ObjectName(configuration.prefix.bytes + Self.ownFolder + [UInt8(ascii: "/")])
        do throws(StorageError) {
            let page = try await store.list(ListQuery(prefix: folder, collapsesFolders: false))
            for item in page.items where item.timeCreated.seconds < now.seconds - 86_400 {
                try await store.delete(item.name, if: .mustBe(item.objectGeneration))
            }
        } catch {
            log(.debug, "sweeping \(folder): \(error)")
        }
    }
}
