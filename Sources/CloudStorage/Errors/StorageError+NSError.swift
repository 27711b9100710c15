public import Foundation

/// Lets `error as? NSError` and `catch let error as NSError` do on Linux what they do on Apple platforms. Only this
/// protocol of the standard library's does that; see docs/decisions/0028.
extension StorageError: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSError { BridgedStorageError(self) }

    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout StorageError?) {
        result = _unconditionallyBridgeFromObjectiveC(source)
    }

    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout StorageError?) -> Bool {
        result = (source as? BridgedStorageError)?.error
        return result != nil
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> StorageError {
        guard let source = source as? BridgedStorageError else {
            preconditionFailure("\(source.map(String.init(describing:)) ?? "nil") is no StorageError")
        }
        return source.error
    }
}

/// A `StorageError` as Foundation's class of errors; immutable.
private final class BridgedStorageError: NSError, @unchecked Sendable {
    let error: StorageError

    init(_ error: StorageError) {
        self.error = error
        super.init(domain: StorageError.errorDomain, code: error.errorCode, userInfo: error.errorUserInfo)
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { preconditionFailure("errors are not archived") }
}
