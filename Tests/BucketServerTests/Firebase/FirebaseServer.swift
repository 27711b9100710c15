import FoundationEssentials

/// What tests say to the Firebase side of a server.
extension TestServer {
    static let owner = ("Authorization", "Bearer owner")

    func firebase(
        _ method: String, _ name: String, query: String = "", json: String? = nil, _ headers: [(String, String)] = []
    ) -> Answer {
        call(method, "/v0/b/demo/o/\(escaped(name))\(query)", json: json, headers)
    }

    func firebaseMedia(_ name: String, query: String = "", _ headers: [(String, String)] = []) -> Answer {
        send("GET", "/v0/b/demo/o/\(escaped(name))?alt=media\(query)", headers)
    }

    @discardableResult
    func firebaseUpload(
        _ name: String, _ content: String = "", json: String = "{}", _ headers: [(String, String)] = []
    ) -> Answer {
        let body =
            "--b7f3\r\nContent-Type: application/json; charset=utf-8\r\n\r\n\(json)\r\n"
            + "--b7f3\r\nContent-Type: text/plain\r\n\r\n\(content)\r\n--b7f3--\r\n"
        return send(
            "POST", "/v0/b/demo/o?name=\(escaped(name))",
            [("X-Goog-Upload-Protocol", "multipart"), ("Content-Type", "multipart/related; boundary=b7f3")] + headers,
            body: Array(body.utf8))
    }

    func firebaseList(_ query: String = "", _ headers: [(String, String)] = []) -> FirebaseList? {
        let answer = send("GET", "/v0/b/demo/o\(query)", headers)
        return try? JSONDecoder().decode(FirebaseList.self, from: Data(answer.body))
    }
}

/// A Firebase object resource, strictly of strings.
struct FirebaseObject: Decodable {
    let name: String
    let bucket: String
    let generation: String
    let metageneration: String
    let contentType: String
    let timeCreated: String
    let updated: String
    let storageClass: String
    let size: String
    let md5Hash: String
    let contentEncoding: String
    let contentDisposition: String?
    let contentLanguage: String?
    let cacheControl: String?
    let crc32c: String
    let etag: String
    let downloadTokens: String
    let metadata: [String: String]?
}

struct FirebaseList: Decodable {
    /// Items have these members and no others.
    let items: [[String: String]]
    let prefixes: [String]
    let nextPageToken: String?

    var names: [String] { items.compactMap { $0["name"] } }
}

struct FirebaseFailure: Decodable {
    struct Error: Decodable {
        let code: Int
        let message: String
    }
    let error: Error
}

extension Answer {
    var firebaseObject: FirebaseObject? { try? JSONDecoder().decode(FirebaseObject.self, from: Data(body)) }

    var failure: FirebaseFailure.Error? {
        (try? JSONDecoder().decode(FirebaseFailure.self, from: Data(body)))?.error
    }

    var uploadStatus: String? { self["X-Goog-Upload-Status"] }
}
