/// The credential that Google's own tools would use here (PROTOCOL: ADC order). The first one that exists counts, good
/// or bad: a broken file is an error and never a reason to act as someone else.
struct ApplicationDefault {
    private let environment: [String: String]

    init(_ environment: [String: String]) { self.environment = environment }

    func source(_ service: TokenService) async throws(CredentialError) -> any CredentialSource {
        if let path = value("GOOGLE_APPLICATION_CREDENTIALS") {
            do throws(CredentialError) {
                return try CredentialFile(path).source(service)
            } catch {
                throw CredentialError("GOOGLE_APPLICATION_CREDENTIALS: \(error.message)")
            }
        }
        if let path = wellKnownPath, FileStamp(path) != nil { return try CredentialFile(path).source(service) }
        let machine = MetadataServer(environment)
        if await machine.isPresent(service) { return RefreshingCredential(of: machine, service) }
        throw CredentialError(
            "no Google credentials found; give --key-file, --token-file or --anonymous, set "
                + "GOOGLE_APPLICATION_CREDENTIALS, or run `gcloud auth application-default login`")
    }

    /// Where `gcloud` keeps what `application-default login` brought; nil without a home.
    private var wellKnownPath: String? {
        let folder = value("CLOUDSDK_CONFIG") ?? value("HOME").map { $0 + "/.config/gcloud" }
        return folder.map { $0 + "/application_default_credentials.json" }
    }

    private func value(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
