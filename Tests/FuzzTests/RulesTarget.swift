@testable import BucketServer

/// A file of Security Rules: what is read of it decides about every kind of request.
enum RulesTarget {
    static func run(_ input: [UInt8]) -> Bool {
        do throws(RulesSyntaxError) {
            let rules = try RulesParser.parse(String(decoding: input, as: UTF8.self), file: "rules")
            return [.get, .list, .create, .update, .delete].contains { rules.decide(request($0)) == .allow }
        } catch {
            precondition(!"\(error)".isEmpty, "no word of what is wrong")
            return false
        }
    }

    private static func request(_ method: RulesRequest.Method) -> RulesRequest {
        let object = RulesValue.map([
            "name": .string("folder/name.txt"), "bucket": .string("bucket"), "size": .integer(100),
            "contentType": .string("text/plain"), "metadata": .map(["key": .string("value")]),
            "timeCreated": .timestamp(1_767_225_600_000_000),
        ])
        let auth = RulesValue.map(["uid": .string("u1"), "token": .map(["email": .string("a@example.com")])])
        let isChange = method == .create || method == .update
        return RulesRequest(
            method: method, path: ["b", "bucket", "o", "folder", "name.txt"], auth: auth,
            resource: method == .create ? nil : object, proposed: isChange ? object : nil,
            time: 1_767_225_600_000_000)
    }
}
