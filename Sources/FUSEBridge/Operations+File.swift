import BucketFileSystem
import CFUSE
import Glibc

/// Files, in the order one lives.
func addFileOperations(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.open = { request, inode, info in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        let mode = unsafe OpenMode(flags: info!.pointee.flags)
        request.serve(Operation("open", inode)) { (fileSystem, owed) throws(FileSystemError) in
            owed.answer(try await fileSystem.open(inode, mode))
        }
    }
    unsafe operations.create = { request, parent, name, permissions, info in
        let (request, parent, name) = unsafe (Request(request), InodeNumber(parent), EntryName(name))
        let flags = unsafe info!.pointee.flags
        let permissions = UInt16(permissions & 0o7777)
        request.serve(Operation("create", parent, name), changes: true) { (fileSystem, owed) throws(FileSystemError) in
            let (entry, file) = try await fileSystem.create(
                name, in: parent, permissions: permissions, OpenMode(flags: flags), exclusively: flags & O_EXCL != 0)
            owed.answer(entry, file)
        }
    }
    unsafe operations.read = { request, inode, count, offset, info in
        let request = unsafe Request(request)
        let owed = OwedReply(request.reply(Operation("read", InodeNumber(inode))))
        let handle = unsafe HandleID(info)
        request.fileSystem.read(handle, at: Int64(offset), count: count) { result in
            switch result {
            case .success(let bytes): owed.take()?.bytes(bytes)
            case .failure(let error): owed.fail(error)
            }
        }
        owed.watch(cancelling: nil)
    }
    unsafe operations.write = { request, inode, bytes, count, offset, info in
        let request = unsafe Request(request)
        let reply = request.reply(Operation("write", InodeNumber(inode)))
        let appends = unsafe info!.pointee.flags & O_APPEND != 0
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        do throws(FileSystemError) {
            try unsafe request.fileSystem.write(
                HandleID(info), at: Int64(offset), buffer, appends: appends)
            reply.wrote(count)
        } catch {
            reply.fail(error)
        }
    }
    addStoring(to: &operations)
    addCopying(to: &operations)
    addAllocation(to: &operations)
}

private func addStoring(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.flush = { request, inode, info in
        let caller = unsafe Caller(of: request!)
        let request = unsafe Request(request)
        let handle = unsafe HandleID(info)
        let owed = request.serve(Operation("flush", InodeNumber(inode)), changes: true) {
            (fileSystem, owed) throws(FileSystemError) in
            try await fileSystem.flush(handle) { caller.holdsForWriting(fileNumber: $0) }
            owed.done()
        }
        owed.letGo(ifKilled: caller)
    }
    unsafe operations.fsync = { request, inode, _, info in
        let request = unsafe Request(request)
        let handle = unsafe HandleID(info)
        request.serve(Operation("fsync", InodeNumber(inode)), changes: true) {
            (fileSystem, owed) throws(FileSystemError) in
            try await fileSystem.synchronize(handle)
            owed.done()
        }
    }
    unsafe operations.release = { request, inode, info in
        let request = unsafe Request(request)
        unsafe request.fileSystem.release(HandleID(info))
        request.reply(Operation("release", InodeNumber(inode))).done()
    }
}

private func addCopying(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.copy_file_range = { request, inode, offset, source, _, targetOffset, target, count, flags in
        let request = unsafe Request(request)
        let reply = request.reply(Operation("copy_file_range", InodeNumber(inode)))
        guard flags == 0 else { return reply.fail(.invalidArgument) }
        do throws(FileSystemError) {
            let copied = try unsafe request.fileSystem.copyRange(
                from: HandleID(source), at: Int64(offset), to: HandleID(target), at: Int64(targetOffset),
                count: Int64(clamping: count))
            reply.wrote(Int(copied))
        } catch {
            reply.fail(error)
        }
    }
}

private func addAllocation(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.fallocate = { request, inode, mode, offset, count, info in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        let operation = Operation("fallocate", inode)
        // Holes, ranges that move and space beyond the end have no meaning for an object.
        guard mode == 0 else { return request.reply(operation).fail(.unsupported) }
        let handle = unsafe HandleID(info)
        let (end, overflows) = Int64(offset).addingReportingOverflow(Int64(count))
        guard !overflows else { return request.reply(operation).fail(.tooLarge) }
        request.serve(operation, changes: true) { (fileSystem, owed) throws(FileSystemError) in
            if try await fileSystem.attributes(of: inode).attributes.size < end {
                var changes = AttributeChanges()
                changes.size = end
                _ = try await fileSystem.setAttributes(of: inode, to: changes, handle: handle)
            }
            owed.done()
        }
    }
}
