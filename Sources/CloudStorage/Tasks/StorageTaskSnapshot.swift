public import Foundation

/// A task as it was at one moment.
public final class StorageTaskSnapshot: Sendable {
    /// The task itself, which may have moved on.
    public let task: StorageTask
    /// Of an upload: what is being uploaded, and after success what the bucket has. Of a download: nil.
    public let metadata: StorageMetadata?
    public let reference: StorageReference
    /// Why the task failed.
    public let error: (any Error)?
    public let status: StorageTaskStatus
    private let bytes: TransferredBytes

    init(
        task: StorageTask, status: StorageTaskStatus, metadata: StorageMetadata?, bytes: TransferredBytes,
        error: StorageError?
    ) {
        self.task = task
        self.status = status
        self.metadata = metadata
        self.bytes = bytes
        self.error = error
        reference = task.reference
    }

    /// Bytes of the object; the total is -1 until it is known. An object of its own at each call.
    ///
    /// Differs: the total of an upload is the object's size, without that of the metadata around it.
    public var progress: Progress? {
        let progress = Progress(totalUnitCount: bytes.total)
        progress.completedUnitCount = bytes.completed
        return progress
    }
}

extension StorageTaskSnapshot: CustomStringConvertible {
    public var description: String {
        switch status {
        case .unknown: "<State: Unknown>"
        case .resume: "<State: Resume>"
        case .progress: "<State: Progress, Progress: \(bytes.completed) of \(bytes.total) bytes>"
        case .pause: "<State: Paused>"
        case .success: "<State: Success>"
        case .failure: "<State: Failed, Error: \(error.map { "\($0)" } ?? "none")>"
        }
    }
}

/// How far a transfer is.
struct TransferredBytes: Sendable, Equatable {
    var completed: Int64 = 0
    /// -1: not known yet.
    var total: Int64 = -1
}
