/// Asks the rules whether a caller may do something (PROTOCOL 5.2).
extension Service {
    /// - Parameter object: what is there now.
    /// - Parameter proposed: what would be there afterwards.
    /// - Throws: 403 when the rules do not allow it. What they cannot tell yet passes.
    func permit(
        _ method: RulesRequest.Method, _ name: ObjectName, in bucket: String, by caller: Caller, object: ObjectRecord?,
        proposed: RulesValue? = nil
    ) throws(APIError) {
        guard caller != .owner, !rules.isOpen else { return }
        try permit(
            method, parts: name.bytes, in: bucket, by: caller,
            resource: object.map { RulesValue($0, in: bucket) }, proposed: proposed)
    }

    /// - Parameter prefix: empty, or ends with a slash.
    func permitList(_ prefix: String, in bucket: String, by caller: Caller) throws(APIError) {
        guard caller != .owner, !rules.isOpen else { return }
        var parts = Array(prefix.utf8)
        while parts.last == UInt8(ascii: "/") { parts.removeLast() }
        try permit(.list, parts: parts, in: bucket, by: caller, resource: nil, proposed: nil)
    }

    /// - Parameter parts: joined by slashes, in bytes: to a `String`, a slash before a combining mark is another
    ///   letter.
    private func permit(
        _ method: RulesRequest.Method, parts: [UInt8], in bucket: String, by caller: Caller, resource: RulesValue?,
        proposed: RulesValue?
    ) throws(APIError) {
        let segments = parts.isEmpty ? [] : parts.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let request = RulesRequest(
            method: method, path: ["b", bucket, "o"] + segments.map { String(decoding: $0, as: UTF8.self) },
            auth: caller.auth, resource: resource, proposed: proposed, time: currentTime())
        guard case .deny(let reason) = rules.verdict(on: request) else { return }
        let right =
            switch method {
            case .get: "READ"
            case .list: "LIST"
            case .create, .update, .delete: "WRITE"
            }
        throw .forbidden("Permission denied. No \(right) permission: \(reason)")
    }
}
