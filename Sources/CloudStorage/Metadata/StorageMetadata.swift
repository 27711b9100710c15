public import Foundation
import Locking
import ObjectStore

/// What is known of an object: what the service says, and what a program wants to set. Any thread may use it.
///
/// Metadata that came from the service remembers how it came: `StorageReference.updateMetadata(_:)` sends what has
/// been changed since, and nothing else.
///
/// Differs: a `customMetadata` that was never set stays out of an update; elsewhere it clears the object's.
public final class StorageMetadata: Sendable {
    /// All values, compared as bytes where they are text: `String` holds different spellings of a character for equal.
    struct Fields: Sendable {
        var bucket = ""
        var path: ObjectName?
        var md5Hash: String?
        var objectGeneration: Int64 = 0
        var metageneration: Int64 = 0
        var size: Int64 = 0
        var timeCreated: Date?
        var updated: Date?
        var cacheControl: String?
        var contentDisposition: String?
        var contentEncoding: String?
        var contentLanguage: String?
        var contentType: String?
        var custom: [String: String]?
        var isFile = false
    }

    private struct State {
        var fields: Fields
        /// As the service said it; all empty for metadata that a program has made.
        let initial: Fields
    }

    private let state: Lock<State>

    public convenience init() { self.init(Fields()) }

    convenience init(_ fields: Fields) { self.init(fields, initial: Fields()) }

    init(_ fields: Fields, initial: Fields) { state = Lock(State(fields: fields, initial: initial)) }

    var fields: Fields { state.withLock { $0.fields } }
    var initial: Fields { state.withLock { $0.initial } }

    private func set(_ change: (inout Fields) -> Void) { state.withLock { change(&$0.fields) } }

    // MARK: Said by the service

    /// Empty in metadata that a program has made.
    public var bucket: String { fields.bucket }
    /// The last component of `path`.
    public var name: String? { fields.path.map { StoragePath(bucket: "", object: $0).name } }
    /// The object's full name.
    public var path: String? { fields.path?.description }
    /// Base64; nil for objects that were composed of others.
    public var md5Hash: String? { fields.md5Hash }
    /// Which content the object has; another number with each upload.
    public var generation: Int64 { fields.objectGeneration }
    /// Which metadata this generation has; 1 with each upload.
    public var metageneration: Int64 { fields.metageneration }
    /// In bytes.
    public var size: Int64 { fields.size }
    public var timeCreated: Date? { fields.timeCreated }
    public var updated: Date? { fields.updated }
    /// Whether this came from the service; metadata that a program has made is neither file nor folder.
    public var isFile: Bool { fields.isFile }
    /// Never true: the service has no folders.
    public var isFolder: Bool { false }

    // MARK: Set by the program

    public var cacheControl: String? {
        get { fields.cacheControl }
        set { set { $0.cacheControl = newValue } }
    }

    public var contentDisposition: String? {
        get { fields.contentDisposition }
        set { set { $0.contentDisposition = newValue } }
    }

    /// `identity` when the service says it of an object that was stored without one.
    public var contentEncoding: String? {
        get { fields.contentEncoding }
        set { set { $0.contentEncoding = newValue } }
    }

    public var contentLanguage: String? {
        get { fields.contentLanguage }
        set { set { $0.contentLanguage = newValue } }
    }

    public var contentType: String? {
        get { fields.contentType }
        set { set { $0.contentType = newValue } }
    }

    public var customMetadata: [String: String]? {
        get { fields.custom }
        set { set { $0.custom = newValue } }
    }

    // MARK: As an object

    /// A copy that also remembers what the service said.
    public func copy() -> StorageMetadata { state.withLock { StorageMetadata($0.fields, initial: $0.initial) } }

    /// Whether `object` is metadata with the same values.
    public func isEqual(_ object: Any?) -> Bool { (object as? StorageMetadata)?.fields == fields }

    public var hash: Int { hashValue }
}

extension StorageMetadata: Hashable, CustomStringConvertible {
    public static func == (left: StorageMetadata, right: StorageMetadata) -> Bool { left.fields == right.fields }

    public func hash(into hasher: inout Hasher) { fields.hash(into: &hasher) }

    public var description: String {
        let members = dictionaryRepresentation().sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.base)" }
        return "StorageMetadata {\(members.joined(separator: ", "))}"
    }
}

extension StorageMetadata.Fields: Hashable {
    static func == (left: Self, right: Self) -> Bool {
        left.bucket == right.bucket && left.path == right.path && left.numbers == right.numbers
            && left.timeCreated == right.timeCreated && left.updated == right.updated && left.isFile == right.isFile
            && zip(left.texts, right.texts).allSatisfy { hasSameBytes($0, $1) }
            && CustomMetadata.difference(from: left.custom, to: right.custom).isEmpty
            && (left.custom == nil) == (right.custom == nil)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(numbers)
    }

    private var numbers: [Int64] { [objectGeneration, metageneration, size] }

    private var texts: [String?] {
        [md5Hash, cacheControl, contentDisposition, contentEncoding, contentLanguage, contentType]
    }
}

/// `==` would hold NFC and NFD for equal; the bucket does not.
func hasSameBytes(_ left: String?, _ right: String?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): left.utf8.elementsEqual(right.utf8)
    case (nil, _?), (_?, nil): false
    }
}
