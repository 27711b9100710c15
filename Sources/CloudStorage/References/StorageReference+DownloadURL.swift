public import Foundation

/// A link to an object that works without signing in, for as long as its token is not revoked.
extension StorageReference {
    public func downloadURL() async throws -> URL { try await link() }

    public func downloadURL(completion: @escaping @Sendable (Result<URL, any Error>) -> Void) {
        complete(completion) { () async throws(StorageError) in try await self.link() }
    }

    public func downloadURL(completion: @escaping @Sendable (URL?, (any Error)?) -> Void) {
        downloadURL(completion: split(completion))
    }

    private func link() async throws(StorageError) -> URL {
        try requireObject(for: "downloadURL")
        let link = FirebaseConnection.downloadURL(of: try await object(), in: bucket, storage.endpoint)
        guard let url = link.flatMap({ URL(string: $0) }) else {
            throw .unknown(message: "Failed to retrieve a download URL.", serverError: [:])
        }
        return url
    }
}
