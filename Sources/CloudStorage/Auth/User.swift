import CloudStores
import ObjectStore

/// A user who signed in.
public final class User: Sendable {
    private let credential: FirebaseUserCredential

    init(_ credential: FirebaseUserCredential) { self.credential = credential }

    public var uid: String { credential.identity.uid }
    public var email: String? { credential.identity.email }
    public var isAnonymous: Bool { credential.identity.provider == "anonymous" }

    /// The token that requests carry, renewed if it ends soon.
    /// - Throws: `AuthError`.
    public func getIDToken(forcingRefresh: Bool = false) async throws -> String {
        do throws(ObjectStore::StorageError) {
            let cached = credential.cachedAuthorization()
            let authorization =
                if let cached, !forcingRefresh {
                    cached
                } else {
                    try await credential.authorization(replacing: cached)
                }
            return authorization.value?.split(separator: " ").last.map(String.init) ?? ""
        } catch {
            throw AuthError(error)
        }
    }
}
