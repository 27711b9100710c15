import Logging
import ObjectStore

/// Uploads that begin before their file is closed, and how all of a file's bytes get to the bucket.
extension FileSystem {
    /// After a write: a large new file begins to leave while it is written, if it is written from its start on. What
    /// leaves stays staged until the bucket has the whole.
    func streamIfDue(_ inode: InodeNumber, _ contents: FileContents) {
        guard let threshold = configuration.streamThreshold, store.abilities.streams,
            contents.isDueToStream(from: threshold), transfers.count < configuration.streamLimit,
            let upload = try? placeToStream(inode, contents)
        else { return }
        let control = transfers.begin(upload.name, at: clock.today())
        let stream = contents.beginStream { file, end in
            UploadStream(upload, file: file, end: end, piece: configuration.streamPiece, control: control)
        }
        guard let stream else { return transfers.end(control.id) }
        log(.debug, "\(upload.name) begins to leave while it is written")
        stream.start(store) { [transfers] in transfers.end(control.id) }
    }

    private func placeToStream(
        _ inode: InodeNumber, _ contents: FileContents
    ) throws(FileSystemError) -> (name: ObjectName, precondition: Precondition, headers: ObjectHeaders)? {
        let (name, record, link) = try place(of: inode)
        guard link == .attached else { return nil }
        let replaced = try namespace.withLock { (space) throws(FileSystemError) in try space.node(inode).replaces }
        return (
            name, (record ?? replaced).map(Precondition.unchanged) ?? .mustNotExist,
            headers(for: name, over: record, contents.localAttributes.changes)
        )
    }

    /// Sends a file's bytes: what is left of its stream if that fits, else all of them.
    /// - Parameter mayStream: false: they are not those of the file's present state.
    func send(
        _ upload: Upload, of contents: FileContents, mayStream: Bool
    ) async throws(FileSystemError) -> ObjectMetadata {
        var control = contents.stream?.control
        do throws(FileSystemError) {
            if let stream = contents.stream {
                defer { contents.end(stream) }
                if mayStream, let object = try await finish(stream, as: upload) { return object }
                stream.abandon()
            }
            let fresh = transfers.begin(upload.name, at: clock.today())
            defer { transfers.end(fresh.id) }
            control = fresh
            var upload = upload
            upload.control = fresh
            return try await fromStore { () async throws(StorageError) in try await store.insert(upload) }
        } catch {
            guard control?.state == .cancelled else { throw error }
            if transfers.isClosed { throw .mountEnded(upload.name) }
            // Somebody wants that: what is closed for the last time is not to be sent after all.
            contents.giveUp()
            throw error
        }
    }

    /// nil: the stream is of no use.
    private func finish(_ stream: UploadStream, as upload: Upload) async throws(FileSystemError) -> ObjectMetadata? {
        // Renamed, or another version is under the name since.
        guard stream.name == upload.name, stream.precondition == upload.precondition else { return nil }
        let source = upload.source
        switch await stream.finish(size: source.size, crc32c: source.crc32c, headers: upload.headers) {
        case .unusable: return nil
        case .failed(let error): throw FileSystemError(error)
        case .stored(let object): return try await complete(object, begunWith: stream.headersAtStart, upload.headers)
        }
    }

    /// Times are known at the end, but most of an upload's metadata is fixed when it begins; where the server took no
    /// more with the last bytes, it is set now.
    private func complete(
        _ object: ObjectMetadata, begunWith begun: ObjectHeaders, _ wanted: ObjectHeaders
    ) async throws(FileSystemError) -> ObjectMetadata {
        let patch = MetadataPatch(from: begun, to: wanted)
        guard !patch.holds(for: object.headers) else { return object }
        return try await fromStore { () async throws(StorageError) in
            try await store.patch(
                object.name, patch,
                if: Precondition(object: .mustBe(object.objectGeneration), metageneration: object.metageneration))
        }
    }
}

extension MetadataPatch {
    /// Whether it would change nothing.
    fileprivate func holds(for headers: ObjectHeaders) -> Bool {
        func holds(_ change: Change?, _ value: String?) -> Bool {
            switch change {
            case .set(let wanted): value == wanted
            case .remove: value == nil
            case nil: true
            }
        }
        return holds(contentType, headers.contentType) && holds(contentEncoding, headers.contentEncoding)
            && holds(contentDisposition, headers.contentDisposition)
            && holds(contentLanguage, headers.contentLanguage) && holds(cacheControl, headers.cacheControl)
            && custom.allSatisfy { holds($0.value, headers.custom[$0.key]) }
    }
}
