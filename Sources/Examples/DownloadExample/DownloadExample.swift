import CloudStorage
import Dispatch
import Foundation

/// Downloads an object into a file and shows how far it is. The project comes from the environment: see
/// `FirebaseApp.configure()`.
///
///     FIREBASE_STORAGE_BUCKET=demo FIREBASE_STORAGE_EMULATOR_HOST=127.0.0.1:9199 DownloadExample NAME FILE
@main
struct DownloadExample {
    static func main() {
        guard CommandLine.arguments.count == 3 else { end("usage: DownloadExample NAME FILE", status: 2) }
        FirebaseApp.configure()
        let reference = Storage.storage().reference().child(CommandLine.arguments[1])
        let localFile = URL(fileURLWithPath: CommandLine.arguments[2])

        let downloadTask = reference.write(toFile: localFile)

        downloadTask.observe(.progress) { snapshot in
            guard let progress = snapshot.progress else { return }
            print(progressBar(progress), terminator: "")
        }
        downloadTask.observe(.success) { snapshot in
            end("\n\(localFile.path): \(snapshot.progress?.completedUnitCount ?? 0) bytes", status: 0)
        }
        // Whatever was in the file before is still there then.
        downloadTask.observe(.failure) { snapshot in
            end("\n" + explanation(of: snapshot.error), status: 1)
        }
        dispatchMain()
    }

    private static func explanation(of error: (any Error)?) -> String {
        guard let error = error as? NSError, let code = StorageErrorCode(rawValue: error.code) else {
            return "it failed, and nobody knows why"
        }
        switch code {
        case .objectNotFound: return "there is no such object"
        case .unauthorized: return "the rules do not allow this download"
        case .unauthenticated: return "sign in first"
        case .cancelled: return "cancelled"
        case .nonMatchingChecksum: return "what came is damaged; try again"
        case .retryLimitExceeded: return "the service cannot be reached; try again later"
        default: return error.localizedDescription
        }
    }

    /// `[#####.....]  50 %`, over the one before it; nothing while the size is not known.
    private static func progressBar(_ progress: Progress) -> String {
        guard !progress.isIndeterminate else { return "" }
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
