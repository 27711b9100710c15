import BucketFileSystem
import CFUSE
import Glibc
import ObjectStore

// Values of the core in the kernel's layout, and back.

extension FileAttributes {
    /// As `stat(2)` has them.
    var kernelForm: stat {
        var form = stat()
        form.st_ino = .init(fileNumber)
        form.st_mode = kind.fileType | mode_t(permissions)
        form.st_nlink = .init(linkCount)
        form.st_uid = owner
        form.st_gid = group
        form.st_size = off_t(size)
        form.st_blksize = .init(FileAttributes.blockSize)
        // In units of 512 bytes, whatever st_blksize is (stat(2)).
        form.st_blocks = .init(size / 512 + (size % 512 == 0 ? 0 : 1))
        form.st_atim = timespec(accessed)
        form.st_mtim = timespec(modified)
        form.st_ctim = timespec(changed)
        return form
    }
}

extension DirectoryEntry {
    /// What a directory tells of an entry without its attributes: number and kind.
    var kernelForm: stat {
        var form = stat()
        form.st_ino = .init(fileNumber)
        // 0 is `DT_UNKNOWN`.
        form.st_mode = kind?.fileType ?? 0
        return form
    }
}

extension fuse_entry_param {
    init(_ entry: Entry) {
        self.init()
        ino = entry.inode.rawValue
        // Inode numbers are never used twice in a mount, so one inode generation is enough.
        generation = 1
        attr = entry.attributes.kernelForm
        attr_timeout = entry.validFor.inSeconds
        entry_timeout = entry.validFor.inSeconds
    }
}

extension fuse_file_info {
    init(_ file: OpenedFile) {
        self.init()
        fh = file.handle.rawValue
        keep_cache = file.keepsKernelPages ? 1 : 0
    }
}

extension statvfs {
    init(_ statistics: FileSystemStatistics) {
        self.init()
        f_bsize = .init(statistics.blockSize)
        f_frsize = .init(statistics.blockSize)
        f_blocks = .init(statistics.blocks)
        f_bfree = .init(statistics.freeBlocks)
        f_bavail = .init(statistics.freeBlocks)
        f_files = .init(statistics.files)
        f_ffree = .init(statistics.freeFiles)
        f_favail = .init(statistics.freeFiles)
        f_namemax = .init(statistics.longestName)
    }
}

extension timespec {
    init(_ moment: Timestamp) { self.init(tv_sec: time_t(moment.seconds), tv_nsec: Int(moment.nanoseconds)) }
}

extension Timestamp {
    init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec)) }
}

extension FileAttributes.Kind {
    var fileType: mode_t {
        switch self {
        case .file: S_IFREG
        case .directory: S_IFDIR
        case .symbolicLink: S_IFLNK
        }
    }
}

extension AttributeChanges {
    /// - Parameter requested: which fields of `values` count (`FUSE_SET_ATTR_…`). A change of ctime alone is not ours
    ///   to make.
    init(_ values: stat, _ requested: Int32) {
        self.init()
        if requested & Int32(FUSE_SET_ATTR_SIZE) != 0 { size = Int64(values.st_size) }
        if requested & Int32(FUSE_SET_ATTR_MODE) != 0 { permissions = UInt16(values.st_mode & 0o7777) }
        if requested & Int32(FUSE_SET_ATTR_UID) != 0 { owner = values.st_uid }
        if requested & Int32(FUSE_SET_ATTR_GID) != 0 { group = values.st_gid }
        if requested & Int32(FUSE_SET_ATTR_ATIME_NOW) != 0 {
            accessed = .now
        } else if requested & Int32(FUSE_SET_ATTR_ATIME) != 0 {
            accessed = .at(Timestamp(values.st_atim))
        }
        if requested & Int32(FUSE_SET_ATTR_MTIME_NOW) != 0 {
            modified = .now
        } else if requested & Int32(FUSE_SET_ATTR_MTIME) != 0 {
            modified = .at(Timestamp(values.st_mtim))
        }
    }
}

extension FileSystem.AttributeCondition {
    /// From the flags of `setxattr(2)`: `XATTR_CREATE` and `XATTR_REPLACE` (linux/xattr.h), which Glibc's module leaves
    /// out.
    init(flags: Int32) {
        self = flags & 1 != 0 ? .mustNotExist : flags & 2 != 0 ? .mustExist : .none
    }
}

extension OpenMode {
    /// From the flags of `open(2)`.
    init(flags: Int32) {
        let access = flags & O_ACCMODE
        self.init(
            reads: access != O_WRONLY, writes: access != O_RDONLY, truncates: flags & O_TRUNC != 0)
    }
}

extension HandleID {
    /// What `open` or `opendir` answered, as the kernel brings it back.
    init(_ info: UnsafeMutablePointer<fuse_file_info>?) { unsafe self.init(info!.pointee.fh) }
}

extension EntryName {
    /// A name as libfuse hands it over: bytes up to NUL.
    init(_ name: UnsafePointer<CChar>?) { unsafe self.init([UInt8](cString: name)) }
}

extension [UInt8] {
    /// The bytes before NUL.
    init(cString: UnsafePointer<CChar>?) {
        unsafe self.init(UnsafeRawBufferPointer(start: cString!, count: strlen(cString!)))
    }
}

extension Duration {
    /// As libfuse takes timeouts.
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

/// Calls `body` with `bytes` as C wants them: on the stack, NUL at the end.
@discardableResult
func withCString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
        for index in bytes.indices { unsafe buffer[index] = CChar(bitPattern: bytes[index]) }
        unsafe buffer[bytes.count] = 0
        return unsafe body(UnsafePointer(buffer.baseAddress!))
    }
}
