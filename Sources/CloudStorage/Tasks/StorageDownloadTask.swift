import Foundation
import Locking
import ObjectStore

/// A download, into memory or into a file. It has begun when it is handed out.
///
/// A pause keeps what has come. Going on asks for the rest of the same version of the object; if there is another one
/// by then, the download starts again from its first byte.
///
/// Differs: bytes come as they are stored, compressed if `contentEncoding` says so.
public final class StorageDownloadTask: StorageObservableTask, StorageTaskManagement, @unchecked Sendable {
    /// Where the bytes go.
    enum Destination: Sendable {
        /// No more than `maxSize` bytes.
        case memory(maxSize: Int64)
        case file(URL)
    }

    private let destination: Destination
    let download: Download
    private let data = Lock<Data?>(nil)

    init(_ reference: StorageReference, to destination: Destination) {
        self.destination = destination
        download = Download(
            from: reference.storage.store(for: .download, bucket: reference.bucket),
            DownloadCourse(reference.location, maxSize: destination.maxSize), into: destination.content)
        super.init(.download, reference: reference)
        download.task = self
    }

    /// Only a paused task ends without having been told to.
    deinit { download.abandon() }

    override func act(_ action: TaskMachine.Action) {
        switch action {
        case .start: start()
        case .goOn: download.goOn()
        case .stop: download.stop()
        case .abandon: download.abandon()
        }
    }

    func succeed(with data: Data?) {
        self.data.withLock { $0 = data }
        succeed()
    }

    /// What came into memory, once: it is not kept for longer than someone wants it.
    func takeData() -> Data? {
        data.withLock { data in
            defer { data = nil }
            return data
        }
    }

    private func start() {
        do throws(StorageError) {
            try reference.requireObject(for: "a download")
            if case .file(let url) = destination, url.localPath == nil {
                throw .invalidArgument(message: "\(url) is no place on this machine to download to")
            }
            download.begin()
        } catch {
            fail(error)
        }
    }
}

extension StorageDownloadTask.Destination {
    fileprivate var maxSize: Int64? {
        switch self {
        case .memory(let maxSize): maxSize
        case .file: nil
        }
    }

    fileprivate var content: any DownloadContent {
        switch self {
        case .memory: DownloadedData()
        case .file(let url): DownloadedFile(url.localPath ?? "")
        }
    }
}
