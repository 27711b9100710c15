import ObjectStore

/// Where the bytes come from that an entry's content shows of its base.
struct ShownBase {
    let store: any ObjectStore
    let object: ObjectName
    let objectGeneration: ObjectGeneration

    /// Writes the parts `shown` of it into `file`, each to its place.
    /// - Throws: `.stale` when it is gone.
    fileprivate func fetch(_ shown: ByteRanges, into file: StagingFile) async throws(FileSystemError) {
        let metadata: ObjectMetadata
        do throws(StorageError) { metadata = try await store.metadata(of: object) } catch {
            throw FileSystemError(reading: error)
        }
        guard metadata.objectGeneration == objectGeneration else { throw .stale }
        let whole = CheckedBase(store: store, size: metadata.size, crc32c: metadata.crc32c) {
            [object, objectGeneration] in (object, objectGeneration)
        }
        unsafe try await whole.fetch(shown.ranges) { (bytes, offset) throws(FileSystemError) in
            let came = offset..<offset + Int64(bytes.count)
            for part in shown.touching(came).map({ $0.clamped(to: came) }) where !part.isEmpty {
                let piece = unsafe UnsafeRawBufferPointer(
                    rebasing: bytes[Int(part.lowerBound - offset)..<Int(part.upperBound - offset)])
                try unsafe file.write(piece, at: part.lowerBound)
            }
        } undoing: { _ in
            // Nobody uses the file then.
        }
    }
}

/// Putting an entry's content together, as after a crash.
extension StagedContent {
    private var gaps: [Range<Int64>] { StagedExtents(extents).ranges.missing(in: 0..<size) }

    /// Where it has bytes that were written here.
    package var written: [Range<Int64>] { StagedExtents(extents).ranges.ranges }

    /// Parts of it are in the bucket alone.
    package var showsBase: Bool { gaps.contains { $0.lowerBound < baseLimit } }

    /// All bytes of the content, checked, those of the base too. What is neither staged nor the base's reads as zeros,
    /// whatever a write that was never acknowledged has left there.
    /// - Throws: `.stale` when the base is gone that still shows in it; `.staging` when staged bytes are damaged.
    func whole(in directory: JournalDirectory, over base: ShownBase?) async throws(FileSystemError) -> FileSource {
        let file = try await onStagingQueue { () throws(FileSystemError) in try openSound(in: directory) }
        var (shown, zeros) = (ByteRanges(), ByteRanges())
        for gap in gaps {
            shown.insert(gap.clamped(to: 0..<baseLimit))
            if gap.upperBound > baseLimit { zeros.insert(max(gap.lowerBound, baseLimit)..<gap.upperBound) }
        }
        if !shown.isEmpty {
            guard let base else { throw .stale }
            try await base.fetch(shown, into: file)
        }
        let source = try await onStagingQueue { [zeros] () throws(FileSystemError) in
            try FileSource(file, size: size, zeros: zeros)
        }
        if let checksum, checksum != source.crc32c { throw damaged }
        return source
    }

    /// Only the bytes that were written here, checked, with zeros around them: for when the base is gone.
    /// - Throws: `.staging` when they are damaged.
    func alone(in directory: JournalDirectory) async throws(FileSystemError) -> FileSource {
        try await onStagingQueue { () throws(FileSystemError) in
            var zeros = ByteRanges()
            for gap in gaps { zeros.insert(gap) }
            return try FileSource(try openSound(in: directory), size: size, zeros: zeros)
        }
    }

    private var damaged: FileSystemError {
        .staging("the staged bytes are damaged: \(file) is not what the journal says")
    }

    /// The staging file, if it holds what the journal says.
    private func openSound(in directory: JournalDirectory) throws(FileSystemError) -> StagingFile {
        let file = try StagingFile(opening: "\(directory.path)/\(file)")
        guard try file.length >= extents.last?.range.upperBound ?? 0 else { throw damaged }
        for extent in extents {
            guard let checksum = extent.checksum else { continue }
            guard try file.checksum(of: extent.range) == checksum else { throw damaged }
        }
        return file
    }
}
