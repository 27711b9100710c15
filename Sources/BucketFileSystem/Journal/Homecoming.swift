import ObjectStore

/// One entry of a journal on its way to the bucket, under its original preconditions.
struct Homecoming {
    let journal: Journal
    let store: any ObjectStore

    enum Outcome {
        /// The bucket has it now, or has had it already.
        case stored(ObjectMetadata)
        /// The bucket has something else than it was based on.
        case conflict(String)
        case failed(String)
        /// The network, or a server that could not just now.
        case later(String)
    }

    func run(_ entry: JournalEntry) async -> Outcome {
        switch entry.purpose {
        case .metadata(let patch): await bringHome(patch, of: entry)
        case .content(let content):
            await bringHome(content, as: entry.object, base: entry.base)
        }
    }

    // MARK: Metadata

    /// Another client's change of metadata in between is merged: only the generation must be the same.
    private func bringHome(_ patch: MetadataPatch, of entry: JournalEntry) async -> Outcome {
        guard let generation = entry.base.objectGeneration else { return .conflict("there was no object to change") }
        do throws(StorageError) {
            return .stored(try await store.patch(entry.object, patch, if: .mustBe(generation)))
        } catch {
            switch error.kind {
            case .preconditionFailed, .generationChanged, .notFound: return .conflict("the object was replaced")
            default: return Outcome(error)
            }
        }
    }

    // MARK: Content

    private func bringHome(
        _ content: StagedContent, as object: ObjectName, base: JournalEntry.Base
    ) async -> Outcome {
        do throws(FileSystemError) {
            let shown = base.objectGeneration.map { ShownBase(store: store, object: object, objectGeneration: $0) }
            let source = try await content.whole(in: journal.directory, over: shown)
            return await upload(source, content, as: object, base)
        } catch {
            switch error {
            case .stale: return .conflict("the version it was based on is gone from the bucket")
            case .storage(let error): return Outcome(error)
            default: return .failed(error.words)
            }
        }
    }

    private func upload(
        _ source: FileSource, _ content: StagedContent, as object: ObjectName, _ base: JournalEntry.Base
    ) async -> Outcome {
        var upload = Upload(
            name: object, headers: content.headers, precondition: base.precondition, source: source)
        for _ in 0..<4 {
            do throws(StorageError) {
                return .stored(try await store.insert(upload))
            } catch {
                guard error.kind == .preconditionFailed || error.kind == .generationChanged else {
                    return Outcome(error)
                }
            }
            do throws(StorageError) {
                let live = try await store.metadata(of: object)
                // Our own upload, whose answer was never heard.
                if live.crc32c == source.crc32c, live.size == source.size { return .stored(live) }
                guard live.objectGeneration == base.objectGeneration else {
                    return .conflict("the bucket has another version, stored meanwhile")
                }
                // Only the metadata was changed by another client: that is merged, not undone.
                upload.headers = live.headers
                upload.headers.apply(content.changes)
                upload.precondition = Precondition(
                    object: .mustBe(live.objectGeneration), metageneration: live.metageneration)
            } catch {
                guard error.kind == .notFound else { return Outcome(error) }
                guard base == .absent else { return .conflict("the object it was based on was deleted") }
            }
        }
        return .later("the object's metadata kept changing")
    }
}

extension Homecoming.Outcome {
    init(_ error: StorageError) {
        switch error.kind {
        case .unreachable, .timedOut, .serverFailed, .rateLimited, .cancelled, .unauthenticated, .malformedAnswer,
            .corrupted:
            self = .later("\(error)")
        case .preconditionFailed, .generationChanged: self = .conflict("\(error)")
        case .notFound, .forbidden, .invalidRequest, .tooLarge, .quotaExceeded, .rangeNotSatisfiable, .sourceFailed,
            .unsupported:
            self = .failed("\(error)")
        }
    }
}
