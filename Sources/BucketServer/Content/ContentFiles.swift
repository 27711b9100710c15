import Glibc
import Locking

/// Names a stored file. Its bytes never change; an object points to one, and gets another when it is replaced.
struct ContentID: Hashable, Sendable {
    let value: Int64
}

/// The files that hold objects' bytes, in 256 directories so that none grows long. Any thread may call it.
///
/// A file is removed as soon as no object points to it: whoever has it open keeps its bytes.
final class ContentFiles: Sendable {
    private let directory: String
    private let computesMD5: Bool
    private let lastID: Lock<Int64>

    /// - Parameter highest: the highest id that is in use.
    init(directory: String, after highest: ContentID, computesMD5: Bool) throws(ServerError) {
        self.directory = directory
        self.computesMD5 = computesMD5
        lastID = Lock(highest.value)
        try makeDirectory(directory)
        try makeDirectory(directory + "/staged")
        try removeLeftovers()
    }

    func open(_ id: ContentID) -> OpenFile? { OpenFile(path: path(id)) }

    /// An empty file for an upload that lives no longer than its request.
    /// - Parameter computesMD5: false where the object is not to have one.
    func stage(computesMD5: Bool = true) throws(APIError) -> StagedContent {
        try StagedContent(
            path: "\(directory)/staged/\(nextID().value)", computesMD5: computesMD5 && self.computesMD5)
    }

    /// The file of a resumable upload, which survives a restart of the server.
    func stage(upload id: String) throws(APIError) -> StagedContent {
        let staged = try StagedContent(
            path: "\(directory)/staged/\(Self.uploadPrefix)\(id)", computesMD5: computesMD5, keepsFile: true)
        try staged.readBack()
        return staged
    }

    /// Content that begins with an object's bytes, without copying them: the same file under a second name, to be
    /// written on behind what the object has of it. Its readers never look there.
    /// - Returns: nil if the file has other names or more bytes already, so that another object may be in it.
    func stage(continuing content: NewContent) throws(APIError) -> StagedContent? {
        let path = "\(directory)/staged/\(nextID().value)"
        guard unsafe Glibc.link(self.path(content.id), path) == 0 else { return nil }
        var info = stat()
        guard unsafe stat(path, &info) == 0, info.st_nlink == 2, Int64(info.st_size) == content.size else {
            unsafe unlink(path)
            return nil
        }
        return try StagedContent(continuing: path, size: content.size, crc32c: content.checksums.crc32c)
    }

    func removeStaged(upload id: String) { unsafe unlink("\(directory)/staged/\(Self.uploadPrefix)\(id)") }

    func publish(_ staged: StagedContent) throws(APIError) -> ContentID {
        let id = nextID()
        try onShelf(of: id) { () throws(APIError) in try staged.publish(as: path(id)) }
        return id
    }

    /// Another name for the same bytes: a copy that copies nothing.
    func link(_ id: ContentID) throws(APIError) -> ContentID {
        let copy = nextID()
        let destination = path(copy)
        unsafe unlink(destination)
        try onShelf(of: copy) { () throws(APIError) in
            guard unsafe Glibc.link(path(id), destination) == 0 else {
                throw StagedContent.diskError("copy to", destination)
            }
        }
        return copy
    }

    func remove(_ id: ContentID?) {
        if let id { unsafe unlink(path(id)) }
    }

    private static let uploadPrefix = "upload-"

    private func nextID() -> ContentID {
        ContentID(
            value: lastID.withLock {
                $0 += 1
                return $0
            })
    }

    /// Does `body`, which puts a file on the shelf; a shelf is made for its first file.
    private func onShelf(of id: ContentID, _ body: () throws(APIError) -> Void) throws(APIError) {
        do {
            try body()
        } catch {
            let shelf = Self.shelf(UInt8(truncatingIfNeeded: id.value), in: directory)
            guard unsafe mkdir(shelf, 0o700) == 0 || errno == EEXIST else { throw error }
            try body()
        }
    }

    private func path(_ id: ContentID) -> String {
        "\(Self.shelf(UInt8(truncatingIfNeeded: id.value), in: directory))/\(String(id.value, radix: 16))"
    }

    private static func shelf(_ number: UInt8, in directory: String) -> String {
        directory + "/" + String(decoding: [hexDigit(number >> 4), hexDigit(number & 15)], as: UTF8.self)
    }

    /// Uploads that a crash cut off, except resumable ones.
    private func removeLeftovers() throws(ServerError) {
        for name in try fileNames(in: directory + "/staged") where !name.hasPrefix(Self.uploadPrefix) {
            unsafe unlink("\(directory)/staged/\(name)")
        }
    }
}

func makeDirectory(_ path: String) throws(ServerError) {
    guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    let reason = unsafe String(cString: strerror(errno))
    throw ServerError("cannot create the directory \(path): \(reason); name another with --data")
}

private func fileNames(in directory: String) throws(ServerError) -> [String] {
    guard let stream = unsafe opendir(directory) else {
        throw ServerError("cannot read the directory \(directory); check its permissions or name another with --data")
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}
