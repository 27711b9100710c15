/// A request's failure, as the JSON API tells it: a status, a machine-readable reason and a sentence.
struct APIError: Error {
    let status: Int
    let reason: String
    let message: String
    var location: String?
    /// What the answer's head says besides.
    var headers: [(name: String, value: String)] = []

    static func invalid(_ message: String) -> APIError { APIError(status: 400, reason: "invalid", message: message) }

    static func invalidParameter(_ name: String, _ value: String) -> APIError {
        APIError(
            status: 400, reason: "invalidParameter", message: "Invalid value '\(value)' for \(name).", location: name)
    }

    static func required(_ name: String) -> APIError {
        APIError(status: 400, reason: "required", message: "Required parameter: \(name)", location: name)
    }

    static func noSuchBucket(_ bucket: String) -> APIError {
        APIError(status: 404, reason: "notFound", message: "The specified bucket does not exist: \(bucket)")
    }

    static func noSuchObject(_ bucket: String, _ name: ObjectName) -> APIError {
        APIError(status: 404, reason: "notFound", message: "No such object: \(bucket)/\(name)")
    }

    static func notFound(_ what: String) -> APIError {
        APIError(status: 404, reason: "notFound", message: "Not found: \(what)")
    }

    static func conflict(_ message: String) -> APIError {
        APIError(status: 409, reason: "conflict", message: message)
    }

    static func conditionNotMet(_ condition: String) -> APIError {
        APIError(
            status: 412, reason: "conditionNotMet",
            message: "At least one of the pre-conditions you specified did not hold.", location: condition)
    }

    static let notModified = APIError(status: 304, reason: "notModified", message: "")

    static let unauthorized = APIError(
        status: 401, reason: "authError", message: "Invalid Credentials", location: "Authorization")

    static func forbidden(_ message: String) -> APIError {
        APIError(status: 403, reason: "forbidden", message: message)
    }

    static func backend(_ message: String) -> APIError {
        APIError(status: 500, reason: "backendError", message: message)
    }
}

extension APIError {
    /// The answer of a JSON call.
    var document: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.object("error") { json in
                json.number("code", Int64(status))
                json.string("message", message)
                json.array("errors") { json in
                    json.object { json in
                        json.string("domain", "global")
                        json.string("reason", reason)
                        json.string("message", message)
                        if let location {
                            json.string("locationType", status == 401 ? "header" : "parameter")
                            json.string("location", location)
                        }
                    }
                }
            }
        }
        return json.bytes
    }

    /// The answer of a Firebase call.
    private var shortDocument: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.object("error") { json in
                json.number("code", Int64(status))
                json.string("message", message)
            }
        }
        return json.bytes
    }

    func response(as form: ErrorForm) -> Response {
        if status == 304 { return Response(status: 304) }
        var response =
            switch form {
            case .document: Response(status: status, json: document)
            case .shortDocument: Response(status: status, json: shortDocument)
            case .text:
                Response(
                    status: status, headers: [("Content-Type", "text/html; charset=UTF-8")],
                    body: .bytes(Array(message.utf8)))
            }
        if status == 401 { response.headers.append(("WWW-Authenticate", "Bearer realm=\"Firemount\"")) }
        response.headers += headers
        return response
    }
}

/// How a failure is worded: each API has its own way.
enum ErrorForm: Sendable {
    /// The JSON API's: message and reasons.
    case document
    /// Firebase's: code and message.
    case shortDocument
    /// Plain text, the JSON API's media calls.
    case text
}
