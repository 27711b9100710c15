import ObjectStore

/// Headers and changes of metadata as the journal keeps them: names with values, one after the other. Each is a byte
/// that says what it is (`=` set, `-` removed), then name and value, each a length of four bytes (little end first) and
/// so many bytes of UTF-8 (docs/JOURNAL.md, fields).
struct FieldList: Equatable {
    struct Field: Equatable {
        var name: String
        /// nil: to be removed.
        var value: String?
    }

    var fields: [Field] = []

    /// nil: damaged.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let mark = rest.popFirst() {
            guard let name = Self.text(&rest), let value = Self.text(&rest) else { return nil }
            switch mark {
            case Self.isSet: fields.append(Field(name: name, value: value))
            case Self.isRemoved where value.isEmpty: fields.append(Field(name: name, value: nil))
            default: return nil
            }
        }
    }

    init() {}

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            bytes.append(field.value == nil ? Self.isRemoved : Self.isSet)
            for text in [field.name, field.value ?? ""] {
                let count = UInt32(text.utf8.count)
                for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
                bytes += text.utf8
            }
        }
        return bytes
    }

    private static let isSet = UInt8(ascii: "=")
    private static let isRemoved = UInt8(ascii: "-")

    private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.count >= 4 else { return nil }
        let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return String(validating: rest.prefix(count), as: UTF8.self)
    }

    // MARK: Names of fields

    private static let customPrefix = "custom."

    /// By bytes: a combining character after the dot would make another character of it.
    private static func customKey(_ name: String) -> String? {
        guard name.utf8.starts(with: customPrefix.utf8) else { return nil }
        return String(decoding: name.utf8.dropFirst(customPrefix.utf8.count), as: UTF8.self)
    }

    private mutating func append(_ name: String, _ value: String?) {
        if let value { fields.append(Field(name: name, value: value)) }
    }

    private mutating func append(_ name: String, _ change: MetadataPatch.Change?) {
        switch change {
        case .set(let value): fields.append(Field(name: name, value: value))
        case .remove: fields.append(Field(name: name, value: nil))
        case nil: break
        }
    }

    init(_ headers: ObjectHeaders) {
        append("content-type", headers.contentType)
        append("content-encoding", headers.contentEncoding)
        append("content-disposition", headers.contentDisposition)
        append("content-language", headers.contentLanguage)
        append("cache-control", headers.cacheControl)
        for (key, value) in headers.custom.sorted(by: { $0.key < $1.key }) { append(Self.customPrefix + key, value) }
    }

    init(_ patch: MetadataPatch) {
        append("content-type", patch.contentType)
        append("content-encoding", patch.contentEncoding)
        append("content-disposition", patch.contentDisposition)
        append("content-language", patch.contentLanguage)
        append("cache-control", patch.cacheControl)
        for (key, change) in patch.custom.sorted(by: { $0.key < $1.key }) { append(Self.customPrefix + key, change) }
    }

    /// nil: a field that no headers have, or one to be removed.
    var headers: ObjectHeaders? {
        guard fields.allSatisfy({ $0.value != nil }), let patch else { return nil }
        var headers = ObjectHeaders()
        headers.apply(patch)
        return headers
    }

    /// nil: a field that no headers have.
    var patch: MetadataPatch? {
        var patch = MetadataPatch()
        for field in fields {
            let change = field.value.map { MetadataPatch.Change.set($0) } ?? .remove
            switch field.name {
            case "content-type": patch.contentType = change
            case "content-encoding": patch.contentEncoding = change
            case "content-disposition": patch.contentDisposition = change
            case "content-language": patch.contentLanguage = change
            case "cache-control": patch.cacheControl = change
            default:
                guard let key = Self.customKey(field.name) else { return nil }
                patch.custom[key] = change
            }
        }
        return patch
    }
}
