import Foundation
import Locking
import ObjectStore

/// An upload, from memory or from a file. It has begun when it is handed out.
///
/// A pause drops the request under way. Going on asks the service what it has, and sends the rest.
///
/// Differs: an upload to a bucket's root fails with `invalidArgument` instead of ending the program; the metadata given
/// to the call is copied and stays as it is.
public final class StorageUploadTask: StorageObservableTask, StorageTaskManagement, @unchecked Sendable {
    /// Where the bytes are.
    enum Content: Sendable {
        case memory(Data)
        case file(URL)
    }

    private let content: Content
    private let store: any ObjectStore
    private let control = TransferControl()

    init(_ content: Content, to reference: StorageReference, metadata: StorageMetadata?) {
        self.content = content
        store = reference.storage.store(for: .upload, bucket: reference.bucket)
        let metadata = (metadata ?? StorageMetadata()).prepared(
            for: reference.location, inferredType: content.contentType)
        super.init(.upload, reference: reference, metadata: metadata)
    }

    /// Only a paused task ends without having been told to.
    deinit { control.cancel() }

    override func act(_ action: TaskMachine.Action) {
        switch action {
        case .start: start()
        case .goOn: control.resume()
        case .stop: control.pause()
        case .abandon: control.cancel()
        }
    }

    private func start() {
        do throws(StorageError) {
            try reference.requireObject(for: "an upload")
            send(try content.source())
        } catch {
            fail(error)
        }
    }

    private func send(_ source: any UploadSource) {
        let size = source.size
        moved(TransferredBytes(completed: 0, total: size))
        let upload = Upload(
            name: reference.location.object, headers: metadata?.headers ?? ObjectHeaders(), precondition: .none,
            source: source,
            progress: { [weak self] sent in self?.moved(TransferredBytes(completed: sent, total: size)) },
            control: control)
        Task { [weak self, store, location = reference.location] in
            do throws(ObjectStore::StorageError) {
                let object = try await store.insert(upload)
                self?.succeed(StorageMetadata(object, bucket: location.bucket))
            } catch {
                self?.fail(StorageError(error, at: location))
            }
        }
    }
}

extension StorageUploadTask.Content {
    /// What is stored as content type if nobody says one.
    fileprivate var contentType: String {
        switch self {
        case .memory: ContentType.unknown
        case .file(let url): ContentType.forName(Array(url.path.utf8))
        }
    }

    fileprivate func source() throws(StorageError) -> any UploadSource {
        switch self {
        case .memory(let data): DataSource(data)
        case .file(let url): try FileSource(url)
        }
    }
}
