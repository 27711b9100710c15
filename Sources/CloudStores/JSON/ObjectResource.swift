import HTTPTransport
import ObjectStore

/// The object resource (PROTOCOL 4.2): which fields are asked for, how it is read, and how it is written.
enum ObjectResource {
    /// A partial answer halves what a list page weighs.
    static let fields =
        "name,size,generation,metageneration,crc32c,md5Hash,contentType,contentEncoding,contentDisposition,"
        + "contentLanguage,cacheControl,metadata,updated,timeCreated,etag,storageClass,componentCount"

    /// Reads an answer that is one object.
    static func read(
        _ answer: HTTPAnswer, _ operation: String, _ object: ObjectName?
    ) throws(StorageError) -> ObjectMetadata {
        do throws(AnswerDocument.Malformed) {
            return try AnswerDocument(answer.body, .object).object()
        } catch {
            throw malformed(error, answer, operation, object)
        }
    }

    static func malformed(
        _ reason: AnswerDocument.Malformed, _ answer: HTTPAnswer, _ operation: String, _ object: ObjectName?
    ) -> StorageError {
        StorageError(
            .malformedAnswer, operation: operation, object: object, httpStatus: answer.status, message: reason.problem)
    }

    /// The JSON of metadata for a new object.
    static func json(_ headers: ObjectHeaders) -> JSONObject {
        var json = JSONObject()
        json.set("contentType", text: headers.contentType)
        json.set("contentEncoding", text: headers.contentEncoding)
        json.set("contentDisposition", text: headers.contentDisposition)
        json.set("contentLanguage", text: headers.contentLanguage)
        json.set("cacheControl", text: headers.cacheControl)
        if !headers.custom.isEmpty {
            var custom = JSONObject()
            for (key, value) in headers.custom.sorted(by: { $0.key < $1.key }) { custom.set(key, value) }
            json.set("metadata", custom)
        }
        return json
    }

    /// The JSON merge patch (PROTOCOL 4.6).
    static func json(_ patch: MetadataPatch) -> JSONObject {
        var json = JSONObject()
        func apply(_ key: String, _ change: MetadataPatch.Change?) {
            switch change {
            case .set(let value): json.set(key, value)
            case .remove: json.setNull(key)
            case nil: break
            }
        }
        apply("contentType", patch.contentType)
        apply("contentEncoding", patch.contentEncoding)
        apply("contentDisposition", patch.contentDisposition)
        apply("contentLanguage", patch.contentLanguage)
        apply("cacheControl", patch.cacheControl)
        if !patch.custom.isEmpty {
            var custom = JSONObject()
            for (key, change) in patch.custom.sorted(by: { $0.key < $1.key }) {
                switch change {
                case .set(let value): custom.set(key, value)
                case .remove: custom.setNull(key)
                }
            }
            json.set("metadata", custom)
        }
        return json
    }
}
