import Locking
import ObjectStore

/// One version of an object, parts of which are to become parts of a new one: what is damaged on the way must not.
struct CheckedBase: Sendable {
    let store: any ObjectStore
    let size: Int64
    /// Of all its bytes; nil: not known.
    let crc32c: UInt32?
    /// Where it is now: it may be renamed meanwhile.
    let location: @Sendable () -> (name: ObjectName, objectGeneration: ObjectGeneration)

    /// Fetches `missing`, several pieces at once, and makes sure of it. Damage is met once by fetching again.
    /// - Parameters:
    ///   - sink: may be given more than what is missing, and may be given it again.
    ///   - undo: nobody has checked what `sink` was given so far. Called before it is fetched again, and before a
    ///     failure.
    func fetch(
        _ missing: [Range<Int64>], into sink: @escaping BaseFill.Sink, undoing undo: (FileSystemError) -> Void
    ) async throws(FileSystemError) {
        do throws(FileSystemError) {
            unsafe try await fetchOnce(missing, into: sink)
        } catch {
            undo(error)
            guard error.isDamage else { throw error }
            do throws(FileSystemError) {
                unsafe try await fetchOnce(missing, into: sink)
            } catch {
                undo(error)
                throw error
            }
        }
    }

    /// Where most of the object is missing, all of it is fetched, for the checksum of the whole. The bucket knows no
    /// checksum of a part: it is right if it comes alike twice. Neither fetches more bytes than the object has.
    private func fetchOnce(
        _ missing: [Range<Int64>], into sink: @escaping BaseFill.Sink
    ) async throws(FileSystemError) {
        let count = missing.reduce(0) { $0 + Int64($1.count) }
        if let crc32c, count * 2 >= size {
            let pieces = Self.pieces(of: [0..<size])
            let checksums = unsafe try await fetch(pieces, into: sink)
            let whole = zip(pieces, checksums).reduce(UInt32(0)) {
                CRC32C.combine($0, $1.1, length: Int64($1.0.count))
            }
            guard whole == crc32c else { throw damage("what came has another CRC32C than it") }
        } else {
            let pieces = Self.pieces(of: missing)
            let once = unsafe try await fetch(pieces, into: sink)
            let twice = unsafe try await fetch(pieces) { _, _ in }
            guard once == twice else { throw damage("a part of it came twice and was not the same") }
        }
    }

    private func damage(_ message: String) -> FileSystemError {
        .storage(StorageError(.corrupted, operation: "read", object: location().name, message: message))
    }

    private static func pieces(of ranges: [Range<Int64>]) -> [Range<Int64>] {
        ranges.flatMap { range in
            stride(from: range.lowerBound, to: range.upperBound, by: Int(piece)).map {
                $0..<min($0 + piece, range.upperBound)
            }
        }
    }

    /// Answers the pieces' checksums.
    private func fetch(
        _ pieces: [Range<Int64>], into sink: @escaping BaseFill.Sink
    ) async throws(FileSystemError) -> [UInt32] {
        var failure: FileSystemError?
        var checksums = [UInt32](repeating: 0, count: pieces.count)
        await withTaskGroup(of: (Int, Result<UInt32, FileSystemError>).self) { group in
            var rest = pieces.enumerated().map { $0 }[...]
            func next() {
                guard let (index, piece) = rest.popFirst() else { return }
                group.addTask { [store, location] in
                    let (name, generation) = location()
                    return (index, unsafe await BaseFill.run(piece, of: name, generation, from: store, into: sink))
                }
            }
            for _ in 0..<Self.piecesAtOnce { next() }
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
    private static let piece: Int64 = 32 << 20
    private static let piecesAtOnce = 8
}

extension FileSystemError {
    /// What came is not what the bucket has.
    var isDamage: Bool {
        if case .storage(let error) = self { error.kind == .corrupted } else { false }
    }
}
