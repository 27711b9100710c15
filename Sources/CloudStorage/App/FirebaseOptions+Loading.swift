public import Foundation

/// Options that are not in the program.
///
/// Differs: Linux programs have no `GoogleService-Info.plist`. The same keys in JSON do, and so does the configuration
/// object that the console shows for web apps.
extension FirebaseOptions {
    /// Why options cannot be read.
    public struct LoadingError: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Reads a file of JSON: `GOOGLE_APP_ID`, `GCM_SENDER_ID`, `API_KEY`, `PROJECT_ID`, `STORAGE_BUCKET`, or `appId`,
    /// `messagingSenderId`, `apiKey`, `projectId`, `storageBucket`. Other keys are left alone.
    /// - Throws: `LoadingError`.
    public convenience init(contentsOf url: URL) throws {
        do {
            try self.init(json: Data(contentsOf: url))
        } catch {
            throw LoadingError(description: "\(url.path): \(error)")
        }
    }

    /// Reads JSON as `init(contentsOf:)` does.
    public convenience init(json: Data) throws {
        guard let members = try JSONSerialization.jsonObject(with: json) as? [String: Any] else {
            throw LoadingError(description: "options must be one JSON object")
        }
        self.init()
        func text(_ keys: String...) -> String? { keys.lazy.compactMap { members[$0] as? String }.first }
        googleAppID = text("GOOGLE_APP_ID", "appId")
        gcmSenderID = text("GCM_SENDER_ID", "messagingSenderId")
        apiKey = text("API_KEY", "apiKey")
        projectID = text("PROJECT_ID", "projectId")
        storageBucket = text("STORAGE_BUCKET", "storageBucket")
    }

    /// The environment's: `FIREBASE_CONFIG`, which is JSON or the path of a file of JSON as `init(contentsOf:)` reads,
    /// and, before what is in there, `FIREBASE_APP_ID`, `FIREBASE_API_KEY`, `FIREBASE_PROJECT_ID`,
    /// `FIREBASE_STORAGE_BUCKET`.
    /// - Returns: nil if none of them is set.
    /// - Throws: `LoadingError`.
    public convenience init?(environment: [String: String]) throws {
        let names = ["FIREBASE_CONFIG", "FIREBASE_APP_ID", "FIREBASE_API_KEY", "FIREBASE_PROJECT_ID"]
        guard (names + ["FIREBASE_STORAGE_BUCKET"]).contains(where: { environment[$0] != nil }) else { return nil }
        switch environment["FIREBASE_CONFIG"] {
        case let json? where json.utf8.first { $0 > 0x20 } == UInt8(ascii: "{"): try self.init(json: Data(json.utf8))
        case let path?: try self.init(contentsOf: URL(fileURLWithPath: path))
        case nil: self.init()
        }
        googleAppID = environment["FIREBASE_APP_ID"] ?? googleAppID
        apiKey = environment["FIREBASE_API_KEY"] ?? apiKey
        projectID = environment["FIREBASE_PROJECT_ID"] ?? projectID
        storageBucket = environment["FIREBASE_STORAGE_BUCKET"] ?? storageBucket
    }

    /// The options of this program: the environment's, else those in a file `GoogleService-Info.json` in the current
    /// directory or beside the program.
    /// - Returns: nil if there are none, or they cannot be read.
    public class func defaultOptions() -> FirebaseOptions? {
        if let options = try? FirebaseOptions(environment: ProcessInfo.processInfo.environment) { return options }
        let program = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
        return [URL(fileURLWithPath: FileManager.default.currentDirectoryPath), program].lazy
            .map { $0.appendingPathComponent("GoogleService-Info.json") }
            .compactMap { FirebaseOptions(contentsOfFile: $0.path) }.first
    }
}
