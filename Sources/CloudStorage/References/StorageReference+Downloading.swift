public import Foundation

/// Fetching objects. All bytes that are handed out are of one version of the object, and of its checksum.
///
/// Differs: cancelling the calling task cancels the download of the async forms.
extension StorageReference {
    /// Fetches an object into memory.
    ///
    /// Differs: more than `maxSize` ends the download as soon as the service announces it, not only once it has come.
    /// - Parameter maxSize: in bytes; an object with more fails with `downloadSizeExceeded`.
    @discardableResult
    public func getData(
        maxSize: Int64, completion: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) -> StorageDownloadTask {
        getData(maxSize: maxSize, completion: split(completion))
    }

    @discardableResult
    public func getData(
        maxSize: Int64, completion: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) -> StorageDownloadTask {
        let task = StorageDownloadTask(self, to: .memory(maxSize: maxSize))
        task.whenEnded { snapshot in completion(snapshot.result { snapshot.downloadedData }) }
        task.enqueue()
        return task
    }

    public func data(maxSize: Int64) async throws -> Data {
        try await StorageDownloadTask(self, to: .memory(maxSize: maxSize)).outcome(nil) { $0.downloadedData }
    }

    /// Fetches an object into a file. Missing directories are made.
    ///
    /// Differs: what is at `fileURL` before stays until the download is whole, and for good if it fails. A URL without
    /// a scheme is a path, relative to the current directory unless it begins with `/`.
    @discardableResult
    public func write(toFile fileURL: URL) -> StorageDownloadTask {
        download(to: fileURL) { _ in }
    }

    @discardableResult
    public func write(
        toFile fileURL: URL, completion: (@Sendable (URL?, (any Error)?) -> Void)?
    ) -> StorageDownloadTask {
        download(to: fileURL, completion: split(completion ?? { _, _ in }))
    }

    @discardableResult
    public func write(
        toFile fileURL: URL, completion: @escaping @Sendable (Result<URL, any Error>) -> Void
    ) -> StorageDownloadTask {
        download(to: fileURL, completion: completion)
    }

    /// - Parameter onProgress: called on the callback queue.
    public func writeAsync(
        toFile fileURL: URL, onProgress: (@Sendable (Progress?) -> Void)? = nil
    ) async throws -> URL {
        try await StorageDownloadTask(self, to: .file(fileURL)).outcome(onProgress) { _ in fileURL }
    }

    private func download(
        to fileURL: URL, completion: @escaping @Sendable (Result<URL, any Error>) -> Void
    ) -> StorageDownloadTask {
        let task = StorageDownloadTask(self, to: .file(fileURL))
        task.whenEnded { snapshot in completion(snapshot.result { fileURL }) }
        task.enqueue()
        return task
    }
}

extension StorageTaskSnapshot {
    fileprivate var downloadedData: Data? { (task as? StorageDownloadTask)?.takeData() }
}
