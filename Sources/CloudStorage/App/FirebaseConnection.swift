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
            credentials: app.session, configuration: configuration, log: .silent)
    }

    /// nil if the object has no token.
    static func downloadURL(of object: ObjectMetadata, in bucket: String, _ root: String?) -> String? {
        DownloadURL.make(of: object, in: bucket, at: endpoint(root))
    }

    /// Where the service is: as asked for, else as the environment says, else Google's.
    static func endpoint(_ root: String?) -> ServiceEndpoint {
        emulator(root, variable: "FIREBASE_STORAGE_EMULATOR_HOST") ?? .firebase
    }

    /// An emulator: as asked for, else as the environment says; nil: none.
    static func emulator(_ root: String?, variable: String) -> ServiceEndpoint? {
        let text = root ?? ProcessInfo.processInfo.environment[variable]
        guard let text, !text.isEmpty else { return nil }
        do {
            return try ServiceEndpoint(parsing: text)
        } catch {
            fatalError("\(variable): \(error)")
        }
    }

    /// The address that `useEmulator` names. Ends the program when it is none.
    static func emulatorRoot(host: String, port: Int) -> String {
        if host.isEmpty { fatalError("useEmulator: the host is empty") }
        if !(0...65_535).contains(port) { fatalError("useEmulator: \(port) is no port") }
        return "http://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port)"
    }
}
