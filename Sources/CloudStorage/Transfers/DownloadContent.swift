import Foundation
import Glibc

/// Where the bytes of a download go. One thread at a time uses it.
protocol DownloadContent: AnyObject {
    /// The first bytes are about to come, of `size` in all.
    func begin(size: Int64) throws(StorageError)
    /// In order.
    func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError)
    /// What came so far is void: another version comes.
    func restart() throws(StorageError)
    /// Everything is there and right. May take as long as a disk takes.
    /// - Returns: the bytes, if they are in memory.
    func finish() throws(StorageError) -> Data?
    /// Nothing will come of it.
    func discard()
}

/// A download into memory.
final class DownloadedData: DownloadContent {
    private var data = Data()

    func begin(size: Int64) { data.reserveCapacity(Int(clamping: size)) }
    func append(_ bytes: UnsafeRawBufferPointer) { unsafe data.append(contentsOf: bytes) }
    func restart() { data = Data() }
    func finish() -> Data? { data }
    func discard() { data = Data() }
}

/// A download into a file. Beside it, in the same directory, bytes are gathered in a file of another name, which takes
/// its place when it is whole: until then the old content stays.
final class DownloadedFile: DownloadContent {
    private let path: String
    private var file: LocalFile?
    private var temporaryPath = ""
    private var end: Int64 = 0

    init(_ path: String) { self.path = path }

    deinit { discard() }

    func begin(size: Int64) throws(StorageError) {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw .unknown(message: "\(directory.path) cannot be made: \(error)", serverError: [:])
        }
        let temporary = directory.appendingPathComponent(".\(UUID().uuidString).download").path
        file = try inPublicWords { () throws(SystemError) in try LocalFile(creating: temporary) }
        temporaryPath = temporary
        end = 0
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
        try inPublicWords { () throws(SystemError) in try unsafe file?.write(bytes, at: end) }
        end += Int64(bytes.count)
    }

    func restart() throws(StorageError) { discard() }

    func finish() throws(StorageError) -> Data? {
        try inPublicWords { () throws(SystemError) in
            // Else a crash could leave the name with nothing under it: neither the old content nor the new.
            try file?.synchronize()
            try LocalFile.rename(temporaryPath, to: path)
        }
        file = nil
        return nil
    }

    func discard() {
        guard file != nil else { return }
        file = nil
        LocalFile.remove(temporaryPath)
    }

    private func inPublicWords<Value>(_ body: () throws(SystemError) -> Value) throws(StorageError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw error.publicError
        }
    }
}
