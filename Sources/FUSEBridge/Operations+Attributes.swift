import BucketFileSystem
import CFUSE
import Glibc

/// Attributes, extended attributes, symbolic links.
func addAttributeOperations(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.getattr = { request, inode, info in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        // The kernel names the handle when a read wants to know the size, not for `fstat`.
        let handle = unsafe info.map { unsafe HandleID($0) }
        request.serve(Operation("getattr", inode)) { (fileSystem, owed) throws(FileSystemError) in
            let attributes = try await fileSystem.attributes(of: inode, handle: handle)
            owed.take()?.attributes(attributes)
        }
    }
    unsafe operations.setattr = { request, inode, values, requested, info in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        let changes = unsafe AttributeChanges(values!.pointee, requested)
        let handle = unsafe info.map { unsafe HandleID($0) }
        request.serve(Operation("setattr", inode), changes: true) { (fileSystem, owed) throws(FileSystemError) in
            let attributes = try await fileSystem.setAttributes(of: inode, to: changes, handle: handle)
            owed.take()?.attributes(attributes)
        }
    }
    unsafe operations.readlink = { request, inode in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        request.serve(Operation("readlink", inode)) { (fileSystem, owed) throws(FileSystemError) in
            let target = try await fileSystem.target(ofSymbolicLink: inode)
            owed.take()?.target(target)
        }
    }
    addExtendedAttributeOperations(to: &operations)
}

private func addExtendedAttributeOperations(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.getxattr = { request, inode, name, capacity in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        let operation = Operation("getxattr", inode)
        let name = unsafe [UInt8](cString: name)
        if let refusal = refusal(ofAttribute: name) {
            return request.reply(operation).fail(refusal)
        }
        request.serve(operation) { (fileSystem, owed) throws(FileSystemError) in
            let value = try await fileSystem.extendedAttribute(name, of: inode)
            owed.take()?.extendedAttribute(value, capacity: capacity)
        }
    }
    unsafe operations.listxattr = { request, inode, capacity in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        request.serve(Operation("listxattr", inode)) { (fileSystem, owed) throws(FileSystemError) in
            let names = try await fileSystem.extendedAttributeNames(of: inode)
            // Each name ends in NUL (listxattr(2)).
            owed.take()?.extendedAttribute(Array(names.map { $0 + [0] }.joined()), capacity: capacity)
        }
    }
    addExtendedAttributeChanges(to: &operations)
}

private func addExtendedAttributeChanges(to operations: inout fuse_lowlevel_ops) {
    unsafe operations.setxattr = { request, inode, name, value, count, flags in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        let operation = Operation("setxattr", inode)
        let name = unsafe [UInt8](cString: name)
        guard name.starts(with: "user.".utf8) else { return request.reply(operation).fail(.unsupported) }
        let value = unsafe [UInt8](UnsafeRawBufferPointer(start: value, count: count))
        request.serve(operation, changes: true) { (fileSystem, owed) throws(FileSystemError) in
            try await fileSystem.setExtendedAttribute(name, to: value, if: .init(flags: flags), of: inode)
            owed.done()
        }
    }
    unsafe operations.removexattr = { request, inode, name in
        let (request, inode) = unsafe (Request(request), InodeNumber(inode))
        let operation = Operation("removexattr", inode)
        let name = unsafe [UInt8](cString: name)
        if let refusal = refusal(ofAttribute: name) { return request.reply(operation).fail(refusal) }
        request.serve(operation, changes: true) { (fileSystem, owed) throws(FileSystemError) in
            try await fileSystem.removeExtendedAttribute(name, of: inode)
            owed.done()
        }
    }
}

/// Answers from memory for the namespaces that a bucket cannot have; nil if the core is to be asked.
///
/// The kernel asks for `security.capability` before each write. ENOSYS would end that, and `user.` with it, for the
/// whole mount.
private func refusal(ofAttribute name: [UInt8]) -> FileSystemError? {
    if name.starts(with: "user.".utf8) { return nil }
    if name.starts(with: "security.".utf8) || name.starts(with: "trusted.".utf8) { return .noSuchAttribute }
    return .unsupported
}
