import HTTPTransport
import ObjectStore

/// How a protocol asks for a deletion; what is made of the answer is the same in each.
protocol DeletionDialect {
    /// Sends one deletion, as often as the retry rules allow.
    func sendDelete(_ name: ObjectName, if precondition: Precondition) async -> ServiceCaller.Outcome
    /// - Parameter operation: on whose behalf, for errors.
    func metadata(of name: ObjectName, for operation: String) async throws(StorageError) -> ObjectMetadata
}

extension DeletionDialect {
    /// Deletes an object. A gateway that is not the bucket may answer as if it were gone: what a caller takes for gone
    /// is gone.
    /// - Throws: `.notFound` if it was not there.
    func deleteSurely(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        do {
            try await deleteOnce(name, if: precondition)
        } catch let error where error.kind == .notFound || error.kind == .malformedAnswer {
            guard try await exists(name, for: "delete") else {
                if error.kind == .notFound { throw error }
                return
            }
            try await deleteOnce(name, if: precondition)
        }
    }

    private func deleteOnce(_ name: ObjectName, if precondition: Precondition) async throws(StorageError) {
        let outcome = await sendDelete(name, if: precondition)
        do throws(StorageError) {
            let answer = try outcome.result.get()
            guard Self.isNothing(answer.body) else {
                throw StorageError(
                    .malformedAnswer, operation: "delete", object: name, httpStatus: answer.head.status,
                    message: "the answer of a delete has no body, this one has \(answer.body.count) bytes")
            }
        } catch  where error.kind == .notFound && outcome.isAmbiguous {
            // An attempt whose answer was lost has deleted it.
        }
    }

    /// 204 has no body; servers that answer 200 write nothing, or JSON for it. Anything else is no answer of a delete.
    private static func isNothing(_ body: [UInt8]) -> Bool {
        let text = String(decoding: body, as: UTF8.self).filter { !$0.isWhitespace }
        return text.isEmpty || text == "null" || text == "{}"
    }

    /// - Parameter operation: on whose behalf, for errors.
    func exists(_ name: ObjectName, for operation: String) async throws(StorageError) -> Bool {
        do {
            _ = try await metadata(of: name, for: operation)
            return true
        } catch let error where error.kind == .notFound {
            return false
        }
    }
}
