import ObjectStore

/// Where the bytes come from that an entry's content shows of its base.
struct ShownBase {
    let store: any ObjectStore
    let object: ObjectName
    let objectGeneration: ObjectGeneration
}

/// Putting an entry's content together, as after a crash.
extension StagedContent {
    private var gaps: [Range<Int64>] { StagedExtents(extents).ranges.missing(in: 0..<size) }

    /// Where it has bytes that were written here.
    package var written: [Range<Int64>] { StagedExtents(extents).ranges.ranges }

    /// Parts of it are in the bucket alone.
    package var showsBase: Bool { gaps.contains { $0.lowerBound < baseLimit } }

    /// All bytes of the content, checked. What is neither staged nor the base's reads as zeros, whatever a write that
    /// was never acknowledged has left there.
    /// - Throws: `.stale` when the base is gone that still shows in it; `.staging` when staged bytes are damaged.
    func whole(in directory: JournalDirectory, over base: ShownBase?) async throws(FileSystemError) -> FileSource {
        let file = try await onStagingQueue { () throws(FileSystemError) in try openSound(in: directory) }
        var zeros = ByteRanges()
        for gap in gaps {
            if gap.upperBound > baseLimit { zeros.insert(max(gap.lowerBound, baseLimit)..<gap.upperBound) }
            guard gap.lowerBound < baseLimit else { continue }
            guard let base else { throw .stale }
            let shown = gap.lowerBound..<min(gap.upperBound, baseLimit)
            let fetched = unsafe await BaseFill.run(shown, of: base.object, base.objectGeneration, from: base.store) {
                (bytes, offset) throws(FileSystemError) in try unsafe file.write(bytes, at: offset)
            }
            _ = try fetched.get()
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
