import Locking

/// How a file is opened.
package struct OpenMode: Sendable {
    package var reads: Bool
    package var writes: Bool
    /// `O_TRUNC`.
    package var truncates: Bool

    package init(reads: Bool, writes: Bool, truncates: Bool) {
        self.reads = reads
        self.writes = writes
        self.truncates = truncates
    }
}

/// An open file, as the bridge tells the kernel.
package struct OpenedFile: Sendable {
    package var handle: HandleID
    /// Pages that the kernel has of this inode are still right (`FOPEN_KEEP_CACHE`).
    package var keepsKernelPages: Bool
}

/// One open file: which file, how, and where it reads.
final class FileHandle: Sendable {
    let inode: InodeNumber
    let contents: FileContents
    let mode: OpenMode
    let cursor = ReadCursor()
    /// Of the contents, in which it was opened.
    let readingRound: Int

    init(inode: InodeNumber, contents: FileContents, mode: OpenMode) {
        self.inode = inode
        self.contents = contents
        self.mode = mode
        readingRound = contents.readingRound
    }
}
