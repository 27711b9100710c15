import BucketFileSystem
import CFUSE
import Glibc

/// Looking up, making, removing and renaming names.
func addNameOperations(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.lookup = { request, parent, name in
        let (request, parent, name) = unsafe (Request(request), InodeNumber(parent), EntryName(name))
        request.serve(Operation("lookup", parent, name)) { (fileSystem, owed) throws(FileSystemError) in
            switch try await fileSystem.lookup(name, in: parent) {
            case .found(let entry): owed.answer(entry)
            case .absent(let validFor): owed.take()?.absent(validFor: validFor)
            }
        }
    }
    unsafe operations.forget = { request, inode, lookups in
        let request = unsafe Request(request)
        request.fileSystem.forget(InodeNumber(inode), lookups: lookups)
        request.end()
    }
    unsafe operations.forget_multi = { request, count, forgets in
        let request = unsafe Request(request)
        for index in 0..<count {
            let forget = unsafe forgets![index]
            request.fileSystem.forget(InodeNumber(forget.ino), lookups: forget.nlookup)
        }
        request.end()
    }
    unsafe operations.mkdir = { request, parent, name, mode in
        let (request, parent, name) = unsafe (Request(request), InodeNumber(parent), EntryName(name))
        request.serve(Operation("mkdir", parent, name), changes: true) { (fileSystem, owed) throws(FileSystemError) in
            owed.answer(try await fileSystem.makeDirectory(name, in: parent, permissions: UInt16(mode & 0o7777)))
        }
    }
    unsafe operations.symlink = { request, target, parent, name in
        let (request, parent, name) = unsafe (Request(request), InodeNumber(parent), EntryName(name))
        let target = unsafe [UInt8](cString: target)
        request.serve(Operation("symlink", parent, name), changes: true) { (fileSystem, owed) throws(FileSystemError) in
            owed.answer(try await fileSystem.makeSymbolicLink(name, in: parent, target: target))
        }
    }
    unsafe operations.link = { request, inode, newParent, newName in
        let request = unsafe Request(request)
        let operation = unsafe Operation("link", InodeNumber(newParent), EntryName(newName))
        // A bucket has no second name for an object.
        request.reply(operation).fail(.notPermitted)
    }
    addRemovals(to: &operations)
    addRename(to: &operations)
    addNodeCreation(to: &operations)
}

private func addRemovals(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.unlink = { request, parent, name in
        let (request, parent, name) = unsafe (Request(request), InodeNumber(parent), EntryName(name))
        request.serve(Operation("unlink", parent, name), changes: true) { (fileSystem, owed) throws(FileSystemError) in
            try await fileSystem.unlink(name, in: parent)
            owed.done()
        }
    }
    unsafe operations.rmdir = { request, parent, name in
        let (request, parent, name) = unsafe (Request(request), InodeNumber(parent), EntryName(name))
        request.serve(Operation("rmdir", parent, name), changes: true) { (fileSystem, owed) throws(FileSystemError) in
            try await fileSystem.removeDirectory(name, in: parent)
            owed.done()
        }
    }
}

/// `RENAME_NOREPLACE` (linux/fs.h), which Glibc's module leaves out.
private let renameNoReplace: UInt32 = 1

private func addRename(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.rename = { request, parent, name, newParent, newName, flags in
        let (request, parent, name) = unsafe (Request(request), InodeNumber(parent), EntryName(name))
        let (newParent, newName) = unsafe (InodeNumber(newParent), EntryName(newName))
        let operation = Operation("rename", parent, name)
        guard flags & ~renameNoReplace == 0 else {
            return request.reply(operation).fail(.invalidArgument)
        }
        request.serve(operation, changes: true) { (fileSystem, owed) throws(FileSystemError) in
            try await fileSystem.rename(
                name, in: parent, to: newName, in: newParent, replaces: flags & renameNoReplace == 0)
            owed.done()
        }
    }
}

private func addNodeCreation(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.mknod = { request, parent, name, mode, _ in
        let (request, parent, name) = unsafe (Request(request), InodeNumber(parent), EntryName(name))
        let operation = Operation("mknod", parent, name)
        let fileType = mode & S_IFMT
        guard fileType == S_IFREG || fileType == 0 else {
            return request.reply(operation).fail(.notPermitted)
        }
        request.serve(operation, changes: true) { (fileSystem, owed) throws(FileSystemError) in
            owed.answer(try await makeEmptyFile(name, in: parent, permissions: UInt16(mode & 0o7777), fileSystem))
        }
    }
}

/// A file without an open handle: stored before it is answered for, because no close will come by.
private func makeEmptyFile(
    _ name: EntryName, in parent: InodeNumber, permissions: UInt16, _ fileSystem: FileSystem
) async throws(FileSystemError) -> Entry {
    let mode = OpenMode(reads: false, writes: true, truncates: false)
    let (entry, file) = try await fileSystem.create(
        name, in: parent, permissions: permissions, mode, exclusively: true)
    do throws(FileSystemError) {
        try await fileSystem.flush(file.handle)
        fileSystem.release(file.handle)
        return entry
    } catch {
        fileSystem.release(file.handle)
        fileSystem.forget(entry.inode, lookups: 1)
        throw error
    }
}
