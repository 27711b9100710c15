package import ObjectStore

/// Why a file operation failed, in words of files. Only `FUSEBridge/Errno.swift` turns it into an errno.
package enum FileSystemError: Error, Sendable {
    case notFound
    case exists
    case notADirectory
    case isADirectory
    case directoryNotEmpty
    /// The inode's content was replaced by another client, or the object this handle reads is gone.
    case stale
    case readOnly
    /// The access mode of the handle does not allow it.
    case badHandle
    case invalidArgument
    case nameTooLong
    case tooLarge
    /// The staging disk is full.
    case noSpace
    case notPermitted
    case noSuchAttribute
    case unsupported
    case interrupted
    /// The staging disk failed otherwise; the text says how.
    case staging(String)
    /// What the bucket said.
    case storage(StorageError)
}
