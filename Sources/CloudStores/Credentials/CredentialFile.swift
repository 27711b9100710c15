import FoundationEssentials

/// A JSON file that says who we are, of one of the types that Google's tools write (PROTOCOL: Google OAuth2
/// credentials).
struct CredentialFile {
    let path: String
    private let fields: JSONFields

    /// - Throws: when the file is missing, unreadable or no JSON object.
    init(_ path: String) throws(CredentialError) {
        let bytes = try Self.read(path)
        guard let fields = JSONFields(bytes) else {
            throw CredentialError("\(path): not a JSON object; give a key file as Google Cloud wrote it")
        }
        self.path = path
        self.fields = fields
    }

    /// What the file's `type` makes of it.
    func source(_ service: TokenService) throws(CredentialError) -> any CredentialSource {
        switch try required("type") {
        case "service_account":
            RefreshingCredential(of: try ServiceAccountKey(self), service, quotaProject: string("quota_project_id"))
        case "authorized_user":
            RefreshingCredential(of: try AuthorizedUser(self), service, quotaProject: string("quota_project_id"))
        case let type:
            throw CredentialError(
                "\(path): credentials of type \"\(type.prefix(60))\" are not supported; "
                    + "use a service_account or authorized_user file, or --token-file with a token from `gcloud auth "
                    + "print-access-token`")
        }
    }

    func string(_ name: String) -> String? { fields.string(name) }

    func required(_ name: String) throws(CredentialError) -> String {
        guard let text = string(name) else {
            let problem = fields.has(name) ? "is empty or no text" : "is missing"
            throw CredentialError(
                "\(path): the field \"\(name)\" \(problem); download the key again or run "
                    + "`gcloud auth application-default login`")
        }
        return text
    }

    /// Where tokens are to be had: `token_uri`, or Google's.
    func tokenEndpoint() throws(CredentialError) -> String {
        let endpoint = string("token_uri") ?? TokenService.googleEndpoint
        guard TokenService.mayBeAsked(endpoint) else {
            throw CredentialError(
                "\(path): the field \"token_uri\" is no https address; plain http is for loopback hosts only")
        }
        return endpoint
    }

    /// The whole file.
    static func read(_ path: String) throws(CredentialError) -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            throw CredentialError("\(path): no such file; check the path")
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
            throw CredentialError("\(path): may not be read by this user; check the file's mode and owner")
        } catch {
            throw CredentialError("\(path): cannot be read; it must be a plain file")
        }
    }
}
