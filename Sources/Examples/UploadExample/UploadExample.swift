import CloudStorage
import Dispatch
import Foundation

/// Uploads a file and shows how far it is. The project comes from the environment: see `FirebaseApp.configure()`.
///
///     FIREBASE_STORAGE_BUCKET=demo FIREBASE_STORAGE_EMULATOR_HOST=127.0.0.1:9199 UploadExample FILE NAME
@main
struct UploadExample {
    static func main() {
        guard CommandLine.arguments.count == 3 else { end("usage: UploadExample FILE NAME", status: 2) }
        let localFile = URL(fileURLWithPath: CommandLine.arguments[1])
        FirebaseApp.configure()
        let reference = Storage.storage().reference().child(CommandLine.arguments[2])

        // The content type comes from the file's extension unless it is set here.
        let metadata = StorageMetadata()
        metadata.cacheControl = "public,max-age=300"

        let uploadTask = reference.putFile(from: localFile, metadata: metadata)

        uploadTask.observe(.progress) { snapshot in
            guard let progress = snapshot.progress else { return }
            print(progressBar(progress), terminator: "")
        }
        uploadTask.observe(.success) { snapshot in
            let size = snapshot.metadata?.size ?? 0
            end("\n\(snapshot.reference): \(size) bytes, \(snapshot.metadata?.contentType ?? "no type")", status: 0)
        }
        uploadTask.observe(.failure) { snapshot in
            end("\n" + explanation(of: snapshot.error), status: 1)
        }
        dispatchMain()
    }

    private static func explanation(of error: (any Error)?) -> String {
        guard let error = error as? NSError, let code = StorageErrorCode(rawValue: error.code) else {
            return "it failed, and nobody knows why"
        }
        switch code {
        case .unauthorized: return "the rules do not allow this upload"
        case .unauthenticated: return "sign in first"
        case .cancelled: return "cancelled"
        case .retryLimitExceeded: return "the service cannot be reached; try again later"
        default: return error.localizedDescription
        }
    }

    /// `[#####.....]  50 %`, over the one before it.
    private static func progressBar(_ progress: Progress) -> String {
        let width = 40
        let filled = Int(progress.fractionCompleted * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        return "\r[\(bar)] \(Int(progress.fractionCompleted * 100)) %"
    }

    private static func end(_ text: String, status: Int32) -> Never {
        print(text)
        exit(status)
    }
}
