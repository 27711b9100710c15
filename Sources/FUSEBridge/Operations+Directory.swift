import BucketFileSystem
import CFUSE

/// Directories as streams of entries.
func addDirectoryOperations(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.opendir = { request, inode, _ in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        request.serve(Operation("opendir", inode)) { (fileSystem, owed) throws(FileSystemError) in
            owed.answer(directory: try await fileSystem.openDirectory(inode))
        }
    }
    unsafe operations.readdir = { request, inode, capacity, offset, info in
        let request = unsafe Request(request)
        let handle = unsafe HandleID(info)
        readDirectory(
            request, Operation("readdir", InodeNumber(inode)), handle, after: offset,
            DirectoryBuffer(capacity: capacity, withAttributes: false))
    }
    unsafe operations.readdirplus = { request, inode, capacity, offset, info in
        let request = unsafe Request(request)
        let handle = unsafe HandleID(info)
        readDirectory(
            request, Operation("readdirplus", InodeNumber(inode)), handle, after: offset,
            DirectoryBuffer(capacity: capacity, withAttributes: true))
    }
    unsafe operations.releasedir = { request, inode, info in
        let request = unsafe Request(request)
        unsafe request.fileSystem.releaseDirectory(HandleID(info))
        request.reply(Operation("releasedir", InodeNumber(inode))).done()
    }
    unsafe operations.fsyncdir = { request, inode, _, info in
        let request = unsafe Request(request)
        let handle = unsafe HandleID(info)
        request.serve(Operation("fsyncdir", InodeNumber(inode)), changes: true) {
            (fileSystem, owed) throws(FileSystemError) in
            try await fileSystem.synchronizeDirectory(handle)
            owed.done()
        }
    }
}

private func readDirectory(
    _ request: Request, _ operation: Operation, _ handle: HandleID, after offset: off_t, _ buffer: DirectoryBuffer
) {
    let cookie = UInt64(offset)
    let withAttributes = buffer.withAttributes
    request.serve(operation) { (fileSystem, owed) throws(FileSystemError) in
        do throws(FileSystemError) {
            try await fileSystem.readDirectory(handle, after: cookie, withAttributes: withAttributes) { entry in
                buffer.append(entry)
            }
        } catch {
            // What was taken before the failure counts as looked up; the kernel gets none of it.
            for inode in buffer.lookedUp { fileSystem.forget(inode, lookups: 1) }
            throw error
        }
        owed.answer(buffer)
    }
}
