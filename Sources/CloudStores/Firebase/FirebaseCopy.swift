import Logging
package import ObjectStore

/// Copying and renaming: the protocol has no such requests, so the bytes travel through this client, piece by piece.
extension FirebaseStore {
    package func copy(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        try await copyThroughHere(copy, for: "copy").copied
    }

    /// Not atomic: for a moment both names are there.
    package func move(_ copy: ObjectCopy) async throws(StorageError) -> ObjectMetadata {
        let (source, copied) = try await copyThroughHere(copy, for: "move")
        do {
            try await delete(copy.source, if: .mustBe(source.objectGeneration))
        } catch let error where error.kind == .notFound {
            // Someone else has removed what was to go.
        }
        return copied
    }

    /// Bytes of a piece, of which `CopySlots` bounds the number.
    private static let pieceSize: Int64 = 4 << 20

    private func copyThroughHere(
        _ copy: ObjectCopy, for operation: String
    ) async throws(StorageError) -> (source: ObjectMetadata, copied: ObjectMetadata) {
        try Routes.check(copy.destination, operation)
        let source = try await metadata(of: copy.source, for: operation)
        guard copy.sourceGeneration == nil || copy.sourceGeneration == source.objectGeneration else {
            throw StorageError(
                .preconditionFailed, operation: operation, object: copy.source,
                message: "it was replaced: generation \(source.objectGeneration)")
        }
        guard let crc32c = source.crc32c else {
            throw StorageError(
                .malformedAnswer, operation: operation, object: copy.source,
                message: "the server tells no CRC32C to check a copy against")
        }
        let pieces = CopiedPieces(of: source, crc32c: crc32c, in: self)
        let upload = Upload(
            name: copy.destination, headers: source.headersForCopy(copy.headers ?? source.headers),
            precondition: copy.precondition, source: pieces)
        let copied = try await copySlots.withSlot { () async throws(StorageError) in
            if source.size <= configuration.wholeUploadLimit {
                try await pieces.prepare(0..<source.size)
                return try await insertMultipart(upload)
            }
            // What may not be stored anyway need not travel.
            try await check(copy.precondition, of: copy.destination, for: Self.insertion)
            var dialogue = ResumableUpload(upload, in: self, chunkSize: Self.pieceSize) {
                (range) async throws(StorageError) in try await pieces.prepare(range)
            }
            return try await dialogue.run()
        }
        return (source, try await keepTokens(of: upload, copied))
    }

    /// Links that somebody has given away go on working. A server may make its own token for a new object instead of
    /// taking the one that came with it; then it is told once more.
    private func keepTokens(
        of upload: Upload, _ copied: ObjectMetadata
    ) async throws(StorageError) -> ObjectMetadata {
        guard let wanted = upload.headers.downloadTokens, !copied.hasTokens(wanted) else { return copied }
        let patched = try await patch(
            copied.name, MetadataPatch(custom: [ObjectHeaders.downloadTokensKey: .set(wanted)]),
            if: .mustBe(copied.objectGeneration))
        if !patched.hasTokens(wanted) {
            caller.log(.warning, "copy \(upload.name): the server did not take over the download tokens")
        }
        return patched
    }
}

extension ObjectMetadata {
    /// What a copy gets of `headers`. A disposition that the server made from the old name is no wish of anybody's.
    fileprivate func headersForCopy(_ headers: ObjectHeaders) -> ObjectHeaders {
        var headers = headers
        if headers.hasMadeDisposition(for: name) { headers.contentDisposition = nil }
        return headers
    }

    fileprivate func hasTokens(_ wanted: String) -> Bool {
        let tokens = headers.downloadTokens?.split(separator: ",") ?? []
        return wanted.split(separator: ",").allSatisfy { tokens.contains($0) }
    }
}
