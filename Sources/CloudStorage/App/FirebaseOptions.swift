import Foundation
import Locking

/// Which project an app belongs to. Any thread may use it; an app copies what it is configured with.
public final class FirebaseOptions: Sendable {
    private struct Values: Equatable, Sendable {
        var googleAppID: String?
        var gcmSenderID: String?
        var apiKey: String?
        var projectID: String?
        var storageBucket: String?
    }

    private let values: Lock<Values>

    public init() { values = Lock(Values()) }

    public convenience init(googleAppID: String, gcmSenderID: String) {
        self.init()
        self.googleAppID = googleAppID
        self.gcmSenderID = gcmSenderID
    }

    /// Reads what `init(contentsOf:)` reads; nil if that fails.
    public convenience init?(contentsOfFile path: String) {
        try? self.init(contentsOf: URL(fileURLWithPath: path))
    }

    public var googleAppID: String? {
        get { values.withLock { $0.googleAppID } }
        set { values.withLock { $0.googleAppID = newValue } }
    }

    public var gcmSenderID: String? {
        get { values.withLock { $0.gcmSenderID } }
        set { values.withLock { $0.gcmSenderID = newValue } }
    }

    /// Needed to sign in.
    public var apiKey: String? {
        get { values.withLock { $0.apiKey } }
        set { values.withLock { $0.apiKey = newValue } }
    }

    public var projectID: String? {
        get { values.withLock { $0.projectID } }
        set { values.withLock { $0.projectID = newValue } }
    }

    /// The bucket's name, without `gs://`. Empty: `Storage` accepts references to any bucket.
    public var storageBucket: String? {
        get { values.withLock { $0.storageBucket } }
        set { values.withLock { $0.storageBucket = newValue } }
    }

    public func copy() -> FirebaseOptions {
        let copy = FirebaseOptions()
        let values = values.withLock { $0 }
        copy.values.withLock { $0 = values }
        return copy
    }
}
