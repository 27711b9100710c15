package import ObjectStore

/// Nobody: public buckets and emulators need no more.
package struct AnonymousCredential: CredentialSource {
    package init() {}

    package func cachedAuthorization() -> Authorization? { .anonymous }

    /// - Throws: `.unauthenticated` if nobody was not good enough.
    package func authorization(replacing rejected: Authorization?) async throws(StorageError) -> Authorization {
        guard rejected == nil else {
            throw StorageError(
                .unauthenticated, operation: TokenService.operation,
                message: "the server wants credentials, and none were given")
        }
        return .anonymous
    }
}
