import BucketFileSystem
import CFUSE

/// The kernel's requests, decoded. Each is answered exactly once (`Reply`).
///
/// What is left out answers itself: `access` (the kernel checks modes if it is asked to by `default_permissions`),
/// locks (kept by the kernel for this machine), `lseek` for holes, `ioctl`, `poll`, `bmap`.
///
/// The table is built outside any actor, because libfuse calls it on its own threads.
nonisolated func makeOperations() -> fuse_lowlevel_ops {
    var operations = fuse_lowlevel_ops()
    unsafe operations.`init` = { context, connection in
        guard let context = unsafe context, let connection = unsafe connection else { return }
        unsafe Session.fromContext(context).negotiate(&connection.pointee)
    }
    addNameOperations(to: &operations)
    addAttributeOperations(to: &operations)
    addDirectoryOperations(to: &operations)
    addFileOperations(to: &operations)
    unsafe operations.statfs = { request, inode in
        let request = unsafe Request(request)
        let operation = Operation("statfs", InodeNumber(inode))
        request.reply(operation).statistics(request.fileSystem.statistics())
    }
    return operations
}
