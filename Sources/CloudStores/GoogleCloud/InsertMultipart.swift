import HTTPTransport
import ObjectStore

/// `POST /upload/…/o?uploadType=multipart`: metadata and bytes in one request (PROTOCOL 4.5, 1.10).
extension GoogleCloudStore {
    func insertMultipart(_ upload: Upload) async throws(StorageError) -> ObjectMetadata {
        let query = insertQuery(upload, uploadType: "multipart", upload.precondition)
        var call = Call(
            "insert", upload.name, .post, routes.uploads(query), safety: upload.precondition.safety)
        let boundary = Self.boundary()
        let body = multipartBody(upload, boundary)
        call.headers.append(("Content-Type", "multipart/related; boundary=\(boundary)"))
        call.body = body.body
        call.upload = body
        let outcome = await caller.perform(call, for: upload)
        do {
            let object = try stored(try outcome.result.get(), upload)
            upload.didConfirm(upTo: upload.source.size)
            return object
        } catch {
            switch error.kind {
            case .preconditionFailed where outcome.isAmbiguous || body.attempt().wasRewound: break
            // It was taken, as far as the status goes, and what followed was damaged.
            case .malformedAnswer: break
            default: throw error
            }
            return try await ownSuccess(upload, error)
        }
    }

    private func multipartBody(_ upload: Upload, _ boundary: String) -> UploadBody {
        // The media part's type must not contradict the JSON's (PROTOCOL 4.5).
        let type = upload.headers.contentType ?? "application/octet-stream"
        var head = Array("--\(boundary)\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".utf8)
        head += insertJSON(upload).bytes
        head += Array("\r\n--\(boundary)\r\nContent-Type: \(HeaderText.clean(type))\r\n\r\n".utf8)
        return UploadBody(
            upload, 0..<upload.source.size, head: head, tail: Array("\r\n--\(boundary)--\r\n".utf8),
            clock: caller.clock)
    }

    /// 128 random bits: they will not occur in what is uploaded.
    private static func boundary() -> String {
        let halves = [UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)]
        return "firemount" + halves.map { String($0, radix: 36) }.joined()
    }
}

enum HeaderText {
    /// A header's value must not end its line.
    static func clean(_ value: String) -> String {
        String(value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.map(Character.init))
    }
}
