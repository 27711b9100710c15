import BucketFileSystem
import CFUSE

/// A request as libfuse hands it over, on the thread that libfuse calls on; good until it is answered.
@safe
struct Request {
    let session: Session
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer?) {
        unsafe self.raw = raw!
        session = unsafe Unmanaged<Session>.fromOpaque(fuse_req_userdata(raw)).takeUnretainedValue()
    }

    var fileSystem: FileSystem { session.fileSystem }

    /// The answer it is owed.
    func reply(_ operation: Operation) -> Reply { unsafe Reply(raw, session, operation) }

    /// For what the kernel expects no answer to.
    func end() { unsafe fuse_reply_none(raw) }

    /// Runs `body`, which answers by `owed`. It starts on this thread, so an answer that is at hand is given without a
    /// switch; it goes on elsewhere only after it had to wait.
    /// - Parameter changes: whether the bucket may be changed: then it goes on although the caller is killed.
    @discardableResult
    func serve(
        _ operation: Operation, changes: Bool = false,
        _ body: @escaping @Sendable (FileSystem, OwedReply) async throws(FileSystemError) -> Void
    ) -> OwedReply {
        let owed = OwedReply(reply(operation))
        let task = Task.immediate { [fileSystem] in
            do throws(FileSystemError) {
                try await body(fileSystem, owed)
            } catch {
                owed.fail(error)
            }
        }
        owed.watch(cancelling: changes ? nil : task)
        return owed
    }
}
