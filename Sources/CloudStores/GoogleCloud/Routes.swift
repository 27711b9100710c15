import ObjectStore

/// The URLs of a bucket (PROTOCOL 4.1).
struct Routes: Sendable {
    private let bucketRoot: String
    private let uploads: String

    init(_ endpoint: ServiceEndpoint, bucket: String) {
        let segment = PercentEncoding.encode(bucket)
        bucketRoot = "\(endpoint.root)/storage/v1/b/\(segment)"
        uploads = "\(endpoint.root)/upload/storage/v1/b/\(segment)/o"
    }

    func objects(_ query: Query) -> String { "\(bucketRoot)/o\(query.text)" }

    func uploads(_ query: Query) -> String { "\(uploads)\(query.text)" }

    /// - Parameter name: has passed `check`.
    func object(_ name: ObjectName, _ query: Query) -> String {
        "\(bucketRoot)/o/\(PercentEncoding.encode(name.bytes))\(query.text)"
    }

    func rewrite(_ source: ObjectName, to destination: ObjectName, bucket: String, _ query: Query) -> String {
        object(source, Query()) + "/rewriteTo/b/\(PercentEncoding.encode(bucket))/o/"
            + PercentEncoding.encode(destination.bytes) + query.text
    }

    func move(_ source: ObjectName, to destination: ObjectName, _ query: Query) -> String {
        object(source, Query()) + "/moveTo/o/" + PercentEncoding.encode(destination.bytes) + query.text
    }

    var storageLayout: String { "\(bucketRoot)/storageLayout" }

    /// - Parameter name: ends in `/`.
    func folder(_ name: ObjectName) -> String { "\(bucketRoot)/folders/\(PercentEncoding.encode(name.bytes))" }

    func folder(_ source: ObjectName, renamedTo destination: ObjectName) -> String {
        folder(source) + "/renameTo/folders/" + PercentEncoding.encode(destination.bytes)
    }

    func operation(_ id: String) -> String { "\(bucketRoot)/operations/\(PercentEncoding.encode(id))" }

    func compose(_ destination: ObjectName, _ query: Query) -> String {
        object(destination, Query()) + "/compose" + query.text
    }

    /// Refuses names that would make another URL: `.` and `..` vanish from a path, so that deleting the object `..`
    /// would ask for the bucket's deletion. No bucket holds such objects (PROTOCOL 4.9).
    static func check(_ name: ObjectName, _ operation: String) throws(StorageError) {
        let bytes = name.bytes
        let isDots = bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: ".") }
        guard bytes.isEmpty || isDots else { return }
        throw StorageError(
            .invalidRequest, operation: operation, object: name, message: "a bucket can hold no object of this name")
    }
}

/// The query of a URL, grown one parameter at a time.
struct Query: Sendable {
    /// With its `?`; empty when there are no parameters.
    private(set) var text = ""

    /// - Parameter value: percent-encoded here.
    mutating func add(_ key: String, _ value: String) { addRaw(key, PercentEncoding.encode(value)) }

    mutating func add(_ key: String, bytes value: [UInt8]) { addRaw(key, PercentEncoding.encode(value)) }

    mutating func add(_ key: String, _ value: Int64) { addRaw(key, String(value)) }

    private mutating func addRaw(_ key: String, _ value: String) {
        text += "\(text.isEmpty ? "?" : "&")\(key)=\(value)"
    }

    mutating func add(_ precondition: Precondition) {
        switch precondition.object {
        case .mustNotExist: add("ifGenerationMatch", 0)
        case .mustBe(let generation): add("ifGenerationMatch", generation.rawValue)
        case nil: break
        }
        if let metageneration = precondition.metageneration {
            add("ifMetagenerationMatch", metageneration.rawValue)
        }
    }

    /// Asks for what `ObjectMetadata` holds and nothing else.
    mutating func addObjectFields() { add("fields", ObjectResource.fields) }
}
