/// `ifGenerationMatch` and its kin, as given with a request (PROTOCOL 4.4).
struct Preconditions: Sendable, Equatable, Codable {
    var generationMatch: Int64?
    var generationNotMatch: Int64?
    var metagenerationMatch: Int64?
    var metagenerationNotMatch: Int64?
    var etagMatch: String?
    var etagNotMatch: String?

    static let none = Preconditions()

    init() {}

    /// The conditions on the object that the request names.
    init(_ request: Request) throws(APIError) {
        try self.init(request.target)
        etagMatch = request.headers["If-Match"]
        etagNotMatch = request.headers["If-None-Match"]
    }

    init(_ target: Target) throws(APIError) {
        generationMatch = try target.number("ifGenerationMatch")
        generationNotMatch = try target.number("ifGenerationNotMatch")
        metagenerationMatch = try target.number("ifMetagenerationMatch")
        metagenerationNotMatch = try target.number("ifMetagenerationNotMatch")
    }

    /// The conditions on a copy's source.
    init(source target: Target) throws(APIError) {
        generationMatch = try target.number("ifSourceGenerationMatch")
        generationNotMatch = try target.number("ifSourceGenerationNotMatch")
        metagenerationMatch = try target.number("ifSourceMetagenerationMatch")
        metagenerationNotMatch = try target.number("ifSourceMetagenerationNotMatch")
    }

    /// Reads answer a failed not-match with 304; writes with 412.
    /// - Parameter object: the live object, nil if there is none.
    func check(_ object: ObjectRecord?, reading: Bool = false) throws(APIError) {
        if let wanted = generationMatch, wanted != object?.generation ?? 0 {
            throw .conditionNotMet("ifGenerationMatch")
        }
        if let wanted = metagenerationMatch, wanted != object?.metageneration {
            throw .conditionNotMet("ifMetagenerationMatch")
        }
        if let etagMatch, etagMatch != "*" || object == nil, !Self.names(etagMatch, object) {
            throw .conditionNotMet("If-Match")
        }
        if let unwanted = generationNotMatch, unwanted == object?.generation ?? 0 {
            throw reading ? .notModified : .conditionNotMet("ifGenerationNotMatch")
        }
        if let unwanted = metagenerationNotMatch, unwanted == object?.metageneration {
            throw reading ? .notModified : .conditionNotMet("ifMetagenerationNotMatch")
        }
        if let etagNotMatch, etagNotMatch == "*" && object != nil || Self.names(etagNotMatch, object) {
            throw reading ? .notModified : .conditionNotMet("If-None-Match")
        }
    }

    private static func names(_ etags: String, _ object: ObjectRecord?) -> Bool {
        guard let object else { return false }
        let etag = String(decoding: object.etag, as: UTF8.self)
        return etags.split(separator: ",").contains { $0.drop { $0 == " " } == etag || $0.contains("\"\(etag)\"") }
    }
}
