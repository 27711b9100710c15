import Locking
import Logging
import ObjectStore

/// How bytes of the bucket's version get into a staging file.
extension FileSystem {
    /// Fetches what the file still shows of the bucket's version into the staging file, several pieces at once, and
    /// makes sure of it: what is damaged on the way must not become the new version. Damage is met once by fetching
    /// again.
    /// - Parameter record: the bucket's version; nil: there is none, and what the file shows is being copied.
    func fill(
        _ contents: FileContents, _ snapshot: FileContents.Snapshot, of record: FileRecord?
    ) async throws(FileSystemError) {
        guard !snapshot.missingBase.isEmpty else { return }
        guard let base = snapshot.base else { throw .stale }
        let checksum = (snapshot.copied?.record ?? record)?.metadata.crc32c
        do throws(FileSystemError) {
            try await fillOnce(contents, snapshot.missingBase, of: base, checksum)
        } catch {
            guard case .storage(let damage) = error, damage.kind == .corrupted else { throw error }
            log(.warning, "\(damage); again")
            try await fillOnce(contents, snapshot.missingBase, of: base, checksum)
        }
    }

    private func fillOnce(
        _ contents: FileContents, _ missing: [Range<Int64>], of base: ObjectContent, _ checksum: UInt32?
    ) async throws(FileSystemError) {
        do throws(FileSystemError) {
            unsafe try await fetch(missing, of: base, checksum) { (bytes, offset) throws(FileSystemError) in
                try unsafe contents.fill(bytes, at: offset)
            }
        } catch {
            // Nobody has checked what came, and the next attempt would take it for good.
            contents.dropFilled()
            throw error
        }
    }

    /// Where most of the object is missing, all of it is fetched, for the checksum of the whole. The bucket knows no
    /// checksum of a part: it is right if it comes alike twice. Neither fetches more bytes than the object has.
    private func fetch(
        _ missing: [Range<Int64>], of base: ObjectContent, _ checksum: UInt32?, into sink: @escaping BaseFill.Sink
    ) async throws(FileSystemError) {
        let count = missing.reduce(0) { $0 + Int64($1.count) }
        if let checksum, count * 2 >= base.size {
            let pieces = Self.pieces(of: [0..<base.size])
            let checksums = unsafe try await fetch(pieces, of: base, into: sink)
            let whole = zip(pieces, checksums).reduce(UInt32(0)) {
                CRC32C.combine($0, $1.1, length: Int64($1.0.count))
            }
            guard whole == checksum else { throw damage(of: base, "what came has another CRC32C than it") }
        } else {
            let pieces = Self.pieces(of: missing)
            let once = unsafe try await fetch(pieces, of: base, into: sink)
            let twice = unsafe try await fetch(pieces, of: base) { _, _ in }
            guard once == twice else { throw damage(of: base, "a part of it came twice and was not the same") }
        }
    }

    private func damage(of base: ObjectContent, _ message: String) -> FileSystemError {
        .storage(StorageError(.corrupted, operation: "read", object: base.location.name, message: message))
    }

    private static func pieces(of ranges: [Range<Int64>]) -> [Range<Int64>] {
        ranges.flatMap { range in
            stride(from: range.lowerBound, to: range.upperBound, by: Int(fillPiece)).map {
                $0..<min($0 + fillPiece, range.upperBound)
            }
        }
    }

    /// Answers the pieces' checksums.
    private func fetch(
        _ pieces: [Range<Int64>], of base: ObjectContent, into sink: @escaping BaseFill.Sink
    ) async throws(FileSystemError) -> [UInt32] {
        var failure: FileSystemError?
        var checksums = [UInt32](repeating: 0, count: pieces.count)
        await withTaskGroup(of: (Int, Result<UInt32, FileSystemError>).self) { group in
            var rest = pieces.enumerated().map { $0 }[...]
            func next() {
                guard let (index, piece) = rest.popFirst() else { return }
                group.addTask { [store] in
                    let (name, generation) = base.location
                    return (index, unsafe await BaseFill.run(piece, of: name, generation, from: store, into: sink))
                }
            }
            for _ in 0..<Self.fillsAtOnce { next() }
            for await (index, result) in group {
                switch result {
                case .success(let checksum): checksums[index] = checksum
                case .failure(let error):
                    failure = failure ?? error
                    rest = []
                }
                next()
            }
        }
        if let failure { throw failure }
        return checksums
    }

    /// 32 MiB at 8 connections: large enough that the requests' latency does not count.
    private static let fillPiece: Int64 = 32 << 20
    private static let fillsAtOnce = 8

    /// The bytes of an open file that is about to lose its object, so that its holders can go on reading.
    func saveBytesForHolders(of inode: InodeNumber) async throws(FileSystemError) {
        try await saveBytesForCopies(of: inode)
        let isOpen = try namespace.withLock { (space) throws(FileSystemError) in
            let node = try space.node(inode)
            return node.kind == .file && node.handles > 0 && node.record != nil
        }
        guard isOpen else { return }
        let (contents, baseSize) = try openContents(of: inode)
        let makeStaging = { () throws(FileSystemError) in try self.makeStagingFile(of: inode) }
        guard let snapshot = try contents.snapshotForHolders(baseSize: baseSize, makeStaging) else { return }
        try await fill(contents, snapshot, of: try place(of: inode).record)
        contents.didSaveForHolders()
    }
}
