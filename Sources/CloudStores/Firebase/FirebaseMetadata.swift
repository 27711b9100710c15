import HTTPTransport
package import ObjectStore

/// `GET /v0/b/{B}/o/{O}` (PROTOCOL 1.4), and what is made of it: preconditions and download URLs.
extension FirebaseStore {
    package func metadata(of name: ObjectName) async throws(StorageError) -> ObjectMetadata {
        try await metadata(of: name, for: "metadata")
    }

    /// - Parameter operation: on whose behalf, for errors.
    func metadata(of name: ObjectName, for operation: String) async throws(StorageError) -> ObjectMetadata {
        try Routes.check(name, operation)
        let call = Call(operation, name, .get, routes.object(name), safety: .repeatable)
        return try object(try await answer(to: call), operation, name)
    }

    /// For questions whose answer only helps to judge another call's failure.
    /// - Returns: nil when there is no such object, or nobody could tell.
    /// - Throws: `.cancelled` alone.
    func metadataIfKnown(of name: ObjectName, for operation: String) async throws(StorageError) -> ObjectMetadata? {
        do {
            return try await metadata(of: name, for: operation)
        } catch let error where error.kind != .cancelled {
            return nil
        }
    }

    /// Whether `precondition` holds for `name` now. It may no longer when the change arrives that it is asked for: this
    /// protocol has no better (PROTOCOL 1.1).
    /// - Throws: `.preconditionFailed` if not.
    func check(
        _ precondition: Precondition, of name: ObjectName, for operation: String
    ) async throws(StorageError) {
        guard precondition != .none else { return }
        var now: ObjectMetadata?
        do {
            now = try await metadata(of: name, for: operation)
        } catch let error where error.kind == .notFound {
            // Only what is stored whole may be missing; other changes need something to change.
            guard operation == Self.insertion else { throw error }
        }
        guard let violation = precondition.violation(by: now) else { return }
        throw StorageError(.preconditionFailed, operation: operation, object: name, message: violation)
    }

    /// `check` as what a call does before each attempt; nil: there is nothing to check.
    func precheck(
        _ precondition: Precondition, of name: ObjectName, for operation: String
    ) -> (@Sendable () async throws(StorageError) -> Void)? {
        guard precondition != .none else { return nil }
        return { [self] () async throws(StorageError) in try await check(precondition, of: name, for: operation) }
    }

    /// A URL that lets everyone who has it read the object, whatever the rules say (PROTOCOL 1.8).
    /// - Returns: nil if the object has no download token.
    package func downloadURL(of object: ObjectMetadata) -> String? {
        DownloadURL.make(of: object, in: bucket, at: endpoint)
    }
}

/// The lasting address of an object for everyone who has it.
package enum DownloadURL {
    /// nil if the object has no download token.
    package static func make(of object: ObjectMetadata, in bucket: String, at endpoint: ServiceEndpoint) -> String? {
        let token = object.headers.downloadTokens?.split(separator: ",").first
        guard let token else { return nil }
        var query = Query()
        query.add("alt", "media")
        query.add("token", String(token))
        return FirebaseRoutes(endpoint, bucket: bucket).object(object.name, query)
    }
}

extension Precondition {
    /// How the object `now` (nil: none) breaks it; nil: not at all.
    fileprivate func violation(by now: ObjectMetadata?) -> String? {
        switch (object, now) {
        case (.mustNotExist, let now?): return "there is one already, of generation \(now.objectGeneration)"
        case (.mustBe, nil): return "it is no longer there"
        case (.mustBe(let generation), let now?) where now.objectGeneration != generation:
            return "it was replaced: generation \(now.objectGeneration) instead of \(generation)"
        default: break
        }
        guard let metageneration, now?.metageneration != metageneration else { return nil }
        return "its metadata was changed"
    }
}
