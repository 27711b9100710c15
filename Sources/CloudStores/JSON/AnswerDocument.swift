import CSimdjson
import ObjectStore

/// A server's JSON answer, parsed; the owner of the parser's memory. Safe to use: nothing it hands out points into it.
@safe
struct AnswerDocument: ~Copyable {
    enum Kind { case page, namePage, object, rewrite, error }

    /// Why bytes are no such answer.
    struct Malformed: Error, Equatable {
        let problem: String
    }

    private let document: OpaquePointer

    init(_ bytes: [UInt8], _ kind: Kind) throws(Malformed) {
        let expected =
            switch kind {
            case .page: firemount_page_answer
            case .namePage: firemount_name_page_answer
            case .object: firemount_object_answer
            case .rewrite: firemount_rewrite_answer
            case .error: firemount_error_answer
            }
        var problem: UnsafePointer<CChar>?
        let document = unsafe bytes.withUnsafeBytes { buffer in
            unsafe firemount_document_read(buffer.baseAddress, buffer.count, expected, &problem)
        }
        guard let document = unsafe document else {
            throw Malformed(problem: unsafe problem.map { unsafe String(cString: $0) } ?? "unreadable")
        }
        let answer = unsafe firemount_document_answer(document).pointee
        guard unsafe kind == .error || !answer.is_error else {
            let message = unsafe String(answer.error_message) ?? "no message"
            unsafe firemount_document_free(document)
            throw Malformed(problem: "the answer claims success and tells of an error: \(message)")
        }
        unsafe self.document = document
    }

    deinit { unsafe firemount_document_free(document) }

    private var answer: firemount_answer { unsafe firemount_document_answer(document).pointee }

    var errorMessage: String? { unsafe String(answer.error_message) }
    var errorReason: String? { unsafe String(answer.error_reason) }

    var nextPageToken: String? {
        // Some servers write an empty token on the last page.
        let token = unsafe String(answer.next_page_token)
        return token?.isEmpty == true ? nil : token
    }
    var isDone: Bool { unsafe answer.done }
    var rewriteToken: String? { unsafe String(answer.rewrite_token) }
    var totalBytesRewritten: Int64? {
        let total = unsafe answer.total_bytes_rewritten
        return total < 0 ? nil : total
    }

    func prefixes() -> [ObjectName] {
        unsafe Self.names(UnsafeBufferPointer(start: answer.prefixes, count: answer.prefix_count))
    }

    /// The items of a page that tells names alone.
    func names() -> [ObjectName] {
        unsafe Self.names(UnsafeBufferPointer(start: answer.names, count: answer.name_count))
    }

    private static func names(_ list: UnsafeBufferPointer<firemount_text>) -> [ObjectName] {
        unsafe list.map { unsafe ObjectName($0.bytes()) }
    }

    func objects() throws(Malformed) -> [ObjectMetadata] {
        let list = unsafe UnsafeBufferPointer(start: answer.objects, count: answer.object_count)
        var objects: [ObjectMetadata] = []
        objects.reserveCapacity(list.count)
        for index in list.indices { objects.append(try unsafe ObjectMetadata(list[index])) }
        return objects
    }

    /// The one object of an object resource or a finished rewrite.
    func object() throws(Malformed) -> ObjectMetadata {
        guard let object = try objects().first else { throw Malformed(problem: "the answer has no object") }
        return object
    }
}

extension firemount_text {
    func bytes() -> [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: bytes, count: length)) }

    var raw: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: bytes, count: length) }
}

extension String {
    fileprivate init?(_ text: firemount_text) {
        guard unsafe text.bytes != nil else { return nil }
        self = unsafe String(decoding: text.raw, as: UTF8.self)
    }
}

extension ObjectMetadata {
    fileprivate init(_ object: firemount_object) throws(AnswerDocument.Malformed) {
        let created = try unsafe Self.moment(object.time_created)
        let updated = try unsafe Self.moment(object.updated)
        let either = created ?? updated ?? Timestamp(seconds: 0)
        self.init(
            name: unsafe ObjectName(object.name.bytes()), objectGeneration: ObjectGeneration(unsafe object.generation),
            metageneration: Metageneration(unsafe object.metageneration < 0 ? 1 : object.metageneration),
            size: unsafe object.size, timeCreated: created ?? either, updated: updated ?? either,
            crc32c: try unsafe Self.crc32c(object.crc32c),
            md5: try unsafe Self.checksum(object.md5_hash, length: 16), etag: unsafe String(object.etag),
            storageClass: unsafe String(object.storage_class),
            componentCount: unsafe object.component_count < 0 ? nil : Int(object.component_count),
            headers: unsafe ObjectHeaders(object))
    }

    private static func moment(_ text: firemount_text) throws(AnswerDocument.Malformed) -> Timestamp? {
        guard unsafe text.bytes != nil else { return nil }
        guard let moment = unsafe Timestamp(rfc3339: text.raw) else {
            throw AnswerDocument.Malformed(problem: "a time is malformed")
        }
        return moment
    }

    /// Base64; the official Firebase emulator writes the number in digits (PROTOCOL 1.4).
    private static func crc32c(_ text: firemount_text) throws(AnswerDocument.Malformed) -> UInt32? {
        if let digits = unsafe String(text), let number = UInt32(digits) { return number }
        return try unsafe checksum(text, length: 4).flatMap { UInt32(checksumBytes: $0) }
    }

    /// nil where the server has none.
    private static func checksum(_ text: firemount_text, length: Int) throws(AnswerDocument.Malformed) -> [UInt8]? {
        guard unsafe text.length > 0 else { return nil }
        guard let bytes = unsafe Base64.decode(text.raw), bytes.count == length else {
            throw AnswerDocument.Malformed(problem: "a checksum is malformed")
        }
        return bytes
    }
}

extension ObjectHeaders {
    fileprivate init(_ object: firemount_object) {
        self.init(
            contentType: unsafe String(object.content_type), contentEncoding: unsafe String(object.content_encoding),
            contentDisposition: unsafe String(object.content_disposition),
            contentLanguage: unsafe String(object.content_language), cacheControl: unsafe String(object.cache_control))
        if let tokens = unsafe String(object.download_tokens), !tokens.isEmpty { downloadTokens = tokens }
        let pairs = unsafe UnsafeBufferPointer(start: object.custom, count: object.custom_count)
        guard !pairs.isEmpty else { return }
        custom.reserveCapacity(pairs.count)
        for index in pairs.indices {
            guard let key = unsafe String(pairs[index].key), let value = unsafe String(pairs[index].value) else {
                continue
            }
            custom[key] = value
        }
    }
}
