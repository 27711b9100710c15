import CloudStores
import ObjectStore

/// Signs users in at an app, so that Security Rules know them. Any thread may use it.
///
/// Differs: only what storage needs is here, and a sign-in is not kept when the program ends.
public final class Auth: Sendable {
    public let app: FirebaseApp

    private init(_ app: FirebaseApp) { self.app = app }

    /// Of the default app.
    public class func auth() -> Auth { Auth(FirebaseApp.defaultApp) }

    public class func auth(app: FirebaseApp) -> Auth { Auth(app) }

    /// nil: nobody is signed in, and requests are anonymous.
    public var currentUser: User? { app.session.user.map { User($0) } }

    /// Speaks to an emulator, or to `firemount serve`, from the next sign-in on.
    ///
    /// Differs: without this call the environment's `FIREBASE_AUTH_EMULATOR_HOST` (`HOST:PORT`) counts.
    public func useEmulator(withHost host: String, port: Int) {
        app.session.emulator = FirebaseConnection.emulatorRoot(host: host, port: port)
    }

    /// - Throws: `AuthError`.
    @discardableResult
    public func signIn(withEmail email: String, password: String) async throws -> AuthDataResult {
        try await signIn { (auth) async throws(ObjectStore::StorageError) in
            try await auth.signIn(email: email, password: password)
        }
    }

    public func signIn(
        withEmail email: String, password: String,
        completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
    ) {
        complete(completion) { try await self.signIn(withEmail: email, password: password) }
    }

    /// As a new user, who has no name and cannot come back.
    /// - Throws: `AuthError`.
    @discardableResult
    public func signInAnonymously() async throws -> AuthDataResult {
        try await signIn { (auth) async throws(ObjectStore::StorageError) in try await auth.signInAnonymously() }
    }

    public func signInAnonymously(completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil) {
        complete(completion) { try await self.signInAnonymously() }
    }

    /// - Parameter token: a JWT that the project's own server has made.
    /// - Throws: `AuthError`.
    @discardableResult
    public func signIn(withCustomToken token: String) async throws -> AuthDataResult {
        try await signIn { (auth) async throws(ObjectStore::StorageError) in
            try await auth.signIn(customToken: token)
        }
    }

    public func signIn(
        withCustomToken token: String, completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
    ) {
        complete(completion) { try await self.signIn(withCustomToken: token) }
    }

    /// Makes a user, and signs in as that one.
    /// - Throws: `AuthError`.
    @discardableResult
    public func createUser(withEmail email: String, password: String) async throws -> AuthDataResult {
        try await signIn { (auth) async throws(ObjectStore::StorageError) in
            try await auth.signUp(email: email, password: password)
        }
    }

    public func createUser(
        withEmail email: String, password: String,
        completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
    ) {
        complete(completion) { try await self.createUser(withEmail: email, password: password) }
    }

    /// Requests are anonymous from now on. Never fails; it throws on other platforms.
    public func signOut() throws { app.session.user = nil }

    private func signIn(
        _ ask: (FirebaseAuth) async throws(ObjectStore::StorageError) -> FirebaseSignIn
    ) async throws -> AuthDataResult {
        let emulator = FirebaseConnection.emulator(app.session.emulator, variable: "FIREBASE_AUTH_EMULATOR_HOST")
        // An emulator takes any key.
        guard let key = app.options.apiKey ?? (emulator == nil ? nil : "none") else {
            throw AuthError(kind: .refused, message: "the app \(app.name) has no API key: set apiKey in its options")
        }
        do {
            let auth = try FirebaseAuth(
                apiKey: key, emulator: emulator, transport: FirebaseConnection.transport, log: .silent)
            let user = try FirebaseUserCredential(
                await ask(auth), transport: FirebaseConnection.transport, log: .silent)
            app.session.user = user
            return AuthDataResult(user: User(user))
        } catch let error as ObjectStore::StorageError {
            throw AuthError(error)
        } catch {
            throw AuthError(kind: .refused, message: "\(error)")
        }
    }

    private func complete(
        _ completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)?,
        _ operation: @escaping @Sendable () async throws -> AuthDataResult
    ) {
        Task {
            do {
                let result = try await operation()
                completion?(result, nil)
            } catch {
                completion?(nil, error)
            }
        }
    }
}

/// What came of signing in.
public final class AuthDataResult: Sendable {
    public let user: User

    init(user: User) { self.user = user }
}
