import Foundation

/// A folder that exists as long as this value does.
final class TemporaryFolder: Sendable {
    let path: String

    init(_ purpose: String) throws {
        path = Self.uniquePath(purpose)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    deinit { remove() }

    func subfolder(_ name: String) throws -> String {
        let subfolder = "\(path)/\(name)"
        try FileManager.default.createDirectory(atPath: subfolder, withIntermediateDirectories: true)
        return subfolder
    }

    static func uniquePath(_ purpose: String) -> String {
        "/tmp/firemount-test-\(purpose)-\(UUID().uuidString.prefix(13))"
    }
}
