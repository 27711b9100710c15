import CloudStores
import Foundation
import HTTPTransport
import Logging
import ObjectStore

/// How this module reaches the network: one transport for the whole process.
enum FirebaseConnection {
    static let transport: any HTTPTransport = CurlTransport(log: .silent)

    static func makeStore(_ app: FirebaseApp, _ request: StoreRequest) -> any ObjectStore {
        var configuration = FirebaseStore.Configuration()
        configuration.timeLimit = .seconds(max(request.timeLimit, 0))
        configuration.chunkSize = request.chunkSize
        configuration.googleAppID = app.options.googleAppID
        return FirebaseStore(
            bucket: request.bucket, endpoint: endpoint(request.endpoint), transport: transport,
            credentials: AnonymousCredential(), configuration: configuration, log: .silent)
    }

    /// nil if the object has no token.
    static func downloadURL(of object: ObjectMetadata, in bucket: String, _ root: String?) -> String? {
        DownloadURL.make(of: object, in: bucket, at: endpoint(root))
    }

    /// Where the service is: as asked for, else as the environment says, else Google's.
    static func endpoint(_ root: String?) -> ServiceEndpoint {
        let text = root ?? ProcessInfo.processInfo.environment["FIREBASE_STORAGE_EMULATOR_HOST"]
        guard let text, !text.isEmpty else { return .firebase }
        do {
            return try ServiceEndpoint(parsing: text)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
