import Locking

/// A project that a program works with. Most programs have one, the default app; others tell theirs apart by name.
/// Any thread may use it.
public final class FirebaseApp: Sendable {
    private struct Apps {
        var all: [String: FirebaseApp] = [:]
    }

    private static let apps = Lock(Apps())
    private static let defaultName = "__FIRAPP_DEFAULT"

    public let name: String
    private let ownOptions: FirebaseOptions
    /// Who is signed in.
    let session = UserSession()

    /// A copy of what the app was configured with.
    public var options: FirebaseOptions { ownOptions.copy() }

    private init(name: String, options: FirebaseOptions) {
        self.name = name
        ownOptions = options.copy()
    }

    // MARK: Configuring

    /// Makes the default app with `FirebaseOptions.defaultOptions()`. Ends the program when there are none, or the
    /// default app is there already.
    public class func configure() {
        guard let options = FirebaseOptions.defaultOptions() else {
            fatalError(
                "FirebaseApp.configure(): no options. Set FIREBASE_CONFIG, put a GoogleService-Info.json beside the "
                    + "program, or call configure(options:)")
        }
        configure(options: options)
    }

    /// Makes the default app. Ends the program when it is there already.
    public class func configure(options: FirebaseOptions) { configure(name: defaultName, options: options) }

    /// Makes another app. Ends the program when there is one of that name.
    public class func configure(name: String, options: FirebaseOptions) {
        if name.isEmpty { fatalError("an app needs a name") }
        let app = FirebaseApp(name: name, options: options)
        let isNew = apps.withLock { $0.all.updateValue(app, forKey: name) == nil }
        if !isNew { fatalError("there is an app \(name) already") }
    }

    // MARK: Looking up

    /// The default app; nil if it was not configured.
    public class func app() -> FirebaseApp? { app(name: defaultName) }

    public class func app(name: String) -> FirebaseApp? { apps.withLock { $0.all[name] } }

    /// All apps by name; nil if there are none.
    public class var allApps: [String: FirebaseApp]? {
        let all = apps.withLock { $0.all }
        return all.isEmpty ? nil : all
    }

    /// For calls that go without an app.
    static var defaultApp: FirebaseApp {
        guard let app = app() else { fatalError("call FirebaseApp.configure() before anything else") }
        return app
    }

    // MARK: Ending

    /// Forgets the app, so that another may have its name. What it was used for goes on.
    /// - Returns: whether it was there.
    @discardableResult
    public func delete() async -> Bool { remove() }

    public func delete(_ completion: @escaping @Sendable (Bool) -> Void) { completion(remove()) }

    private func remove() -> Bool {
        StorageRegistry.shared.forget(self)
        return Self.apps.withLock { apps in
            guard apps.all[name] === self else { return false }
            apps.all[name] = nil
            return true
        }
    }
}
