import CloudStores
import Locking
import ObjectStore

/// Who is signed in at an app, as its requests tell the service. Any thread may use it.
final class UserSession: CredentialSource {
    private struct State {
        var user: FirebaseUserCredential?
        var emulator: String?
    }

    private let state = Lock(State())

    /// nil: nobody.
    var user: FirebaseUserCredential? {
        get { state.withLock { $0.user } }
        set { state.withLock { $0.user = newValue } }
    }

    /// Root of an emulator, if it was said.
    var emulator: String? {
        get { state.withLock { $0.emulator } }
        set { state.withLock { $0.emulator = newValue } }
    }

    func cachedAuthorization() -> Authorization? {
        guard let user else { return .anonymous }
        return user.cachedAuthorization()
    }

    func authorization(replacing rejected: Authorization?) async throws(ObjectStore::StorageError) -> Authorization {
        guard let user else { return .anonymous }
        return try await user.authorization(replacing: rejected)
    }
}
