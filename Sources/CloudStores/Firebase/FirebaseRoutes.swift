import ObjectStore

/// The URLs of a bucket in the Firebase protocol (PROTOCOL 1.1).
struct FirebaseRoutes: Sendable {
    private let collection: String

    init(_ endpoint: ServiceEndpoint, bucket: String) {
        collection = "\(endpoint.root)/v0/b/\(PercentEncoding.encode(bucket))/o"
    }

    func objects(_ query: Query) -> String { collection + query.text }

    /// - Parameter name: has passed `Routes.check`.
    func object(_ name: ObjectName, _ query: Query = Query()) -> String {
        "\(collection)/\(PercentEncoding.encode(name.bytes))\(query.text)"
    }
}
