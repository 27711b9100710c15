package import Logging
package import ObjectStore

/// A bucket as files: one method per kernel operation, in the order a file lives. Owned by the mount; callable from any
/// thread. Calls are made with `Task.immediate`, so that what is answered from memory is answered on the caller's thread;
/// a call suspends only for the network. `read` takes a completion instead, because it is the hottest path.
package final class FileSystem: Sendable {
    package init(
        store: any ObjectStore, configuration: Configuration, kernelCache: any KernelCache, log: Logger
    ) throws(FileSystemError) {
        fatalError("to be built")
    }

    // MARK: Names and attributes

    package func lookup(_ name: EntryName, in parent: InodeNumber) async throws(FileSystemError) -> LookupResult { fatalError() }

    /// The kernel drops `lookups` references to `inode`.
    package func forget(_ inode: InodeNumber, lookups: UInt64) { fatalError() }

    package func attributes(of inode: InodeNumber) async throws(FileSystemError) -> ExpiringAttributes { fatalError() }

    /// Truncation by path or by handle, times, permissions, owner.
    package func setAttributes(
        of inode: InodeNumber, to changes: AttributeChanges, handle: HandleID?
    ) async throws(FileSystemError) -> ExpiringAttributes { fatalError() }

    package func target(ofSymbolicLink inode: InodeNumber) async throws(FileSystemError) -> [UInt8] { fatalError() }

    // MARK: Making, removing, renaming

    package func makeDirectory(
        _ name: EntryName, in parent: InodeNumber, permissions: UInt16
    ) async throws(FileSystemError) -> Entry { fatalError() }

    package func makeSymbolicLink(
        _ name: EntryName, in parent: InodeNumber, target: [UInt8]
    ) async throws(FileSystemError) -> Entry { fatalError() }

    package func unlink(_ name: EntryName, in parent: InodeNumber) async throws(FileSystemError) { fatalError() }

    package func removeDirectory(_ name: EntryName, in parent: InodeNumber) async throws(FileSystemError) { fatalError() }

    /// - Parameter replaces: false is `RENAME_NOREPLACE`: fails with `.exists`.
    package func rename(
        _ name: EntryName, in parent: InodeNumber, to newName: EntryName, in newParent: InodeNumber, replaces: Bool
    ) async throws(FileSystemError) { fatalError() }

    // MARK: Directories

    package func openDirectory(_ inode: InodeNumber) async throws(FileSystemError) -> HandleID { fatalError() }

    /// Hands entries after `cookie` (0: from the start, `.` and `..` included) to `body` until it returns false (buffer
    /// full: that entry was not taken) or the directory ends. Cookies are stable as long as the handle is open.
    /// - Parameter withAttributes: readdirplus: each taken entry other than `.` and `..` carries an inode and counts as
    ///   one lookup of it.
    package func readDirectory(
        _ handle: HandleID, after cookie: UInt64, withAttributes: Bool,
        _ body: @Sendable (borrowing DirectoryEntry) -> Bool
    ) async throws(FileSystemError) { fatalError() }

    package func releaseDirectory(_ handle: HandleID) { fatalError() }

    // MARK: Files

    package func open(_ inode: InodeNumber, _ mode: OpenMode) async throws(FileSystemError) -> OpenedFile { fatalError() }

    package func create(
        _ name: EntryName, in parent: InodeNumber, permissions: UInt16, _ mode: OpenMode, exclusively: Bool
    ) async throws(FileSystemError) -> (entry: Entry, file: OpenedFile) { fatalError() }

    /// Reads up to `count` bytes; fewer only at the end of the file. `completion` is called exactly once: before this
    /// returns when the bytes are in memory, else from the thread that received them.
    package func read(
        _ handle: HandleID, at offset: Int64, count: Int,
        completion: @escaping @Sendable (Result<ReadBytes, FileSystemError>) -> Void
    ) { fatalError() }

    /// Stages `bytes`. Always takes all of them.
    /// - Parameter appends: write at the end, wherever that is now (`O_APPEND`).
    package func write(
        _ handle: HandleID, at offset: Int64, _ bytes: UnsafeRawBufferPointer, appends: Bool
    ) throws(FileSystemError) { fatalError() }

    /// A close is passing by; answers once the bucket has the bytes. May come often for one handle.
    package func flush(_ handle: HandleID) async throws(FileSystemError) { fatalError() }

    package func synchronize(_ handle: HandleID) async throws(FileSystemError) { fatalError() }

    /// Comes once per handle, after the last close.
    package func release(_ handle: HandleID) { fatalError() }

    // MARK: Extended attributes

    package func extendedAttribute(_ name: [UInt8], of inode: InodeNumber) async throws(FileSystemError) -> [UInt8] { fatalError() }

    package func extendedAttributeNames(of inode: InodeNumber) async throws(FileSystemError) -> [[UInt8]] { fatalError() }

    // MARK: The whole

    package func statistics() -> FileSystemStatistics { FileSystemStatistics() }

    /// Waits for uploads under way and stores what is still dirty; the mount is no longer reachable.
    /// Answers the names that could not be stored.
    package func shutDown() async -> [ObjectName] { fatalError() }
}

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

/// One entry of a directory being read.
package struct DirectoryEntry: Sendable {
    package var name: EntryName
    package var kind: FileAttributes.Kind
    package var fileNumber: UInt64
    /// Where to go on after this entry.
    package var cookie: UInt64
    /// With attributes asked for, and not `.` or `..`.
    package var entry: Entry?
}
