import Foundation
import TestSupport

@testable import CloudStores

/// Credential files in a folder of a test's own.
struct CredentialFixture {
    private let folder = temporaryDirectory()

    var path: String { folder.path }

    /// Writes `text` as `name` and returns its path.
    func write(_ name: String, _ text: String) throws -> String {
        let path = folder.path + "/" + name
        try FileManager.default.createDirectory(
            atPath: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// Writes a JSON object of strings; a nil value leaves the field out.
    func write(_ name: String, _ fields: [String: String?]) throws -> String {
        let data = try JSONEncoder().encode(fields.compactMapValues { $0 })
        return try write(name, String(decoding: data, as: UTF8.self))
    }

    static func serviceAccount(_ changes: [String: String?] = [:]) -> [String: String?] {
        let fields: [String: String?] = [
            "type": "service_account", "client_email": "robot@p.iam.gserviceaccount.com", "private_key_id": "k1",
            "private_key": OpenSSL.rsaKey.private, "token_uri": "https://oauth2.example/token",
        ]
        return fields.merging(changes) { $1 }
    }

    static func authorizedUser(_ changes: [String: String?] = [:]) -> [String: String?] {
        let fields: [String: String?] = [
            "type": "authorized_user", "client_id": "id", "client_secret": "s&cret", "refresh_token": "1//r",
            "quota_project_id": "billing",
        ]
        return fields.merging(changes) { $1 }
    }
}
