import HTTPTransport
import Logging
import ObjectStore

/// The server that gives a machine of Google's the tokens of its service account (PROTOCOL: metadata server).
struct MetadataServer: TokenIssuer {
    private static let flavor = (name: "Metadata-Flavor", value: "Google")
    private static let productName = "/sys/class/dmi/id/product_name"
    static let probes = 3

    private let host: String
    private let isHostGiven: Bool
    private let probeAddress: String
    private let probeLimit: Duration
    private let isForbidden: Bool

    init(_ environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let given = value("GCE_METADATA_HOST") ?? value("GCE_METADATA_ROOT")
        host = given ?? "metadata.google.internal"
        isHostGiven = given != nil
        probeAddress = value("GCE_METADATA_IP") ?? "169.254.169.254"
        let seconds = value("GCE_METADATA_TIMEOUT").flatMap { Double($0) } ?? 3
        probeLimit = .seconds(min(max(seconds, 0.1), 60))
        isForbidden = value("NO_GCE_CHECK")?.lowercased() == "true"
    }

    /// Whether there is one. A host that the environment names is taken at its word.
    func isPresent(_ service: TokenService, productName: String = Self.productName) async -> Bool {
        guard !isForbidden else { return false }
        if isHostGiven { return true }
        if let name = try? CredentialFile.read(productName), name.starts(with: "Google".utf8) { return true }
        return await answersProbe(service)
    }

    func token(by service: TokenService) async throws(StorageError) -> AccessToken {
        let url =
            "http://\(host)/computeMetadata/v1/instance/service-accounts/default/token"
            + "?scopes=\(PercentEncoding.encode(ServiceAccountKey.scope))"
        return try await service.token(HTTPRequest(.get, url, headers: [Self.flavor]))
    }

    private func answersProbe(_ service: TokenService) async -> Bool {
        let request = HTTPRequest(
            .get, "http://\(probeAddress)", headers: [Self.flavor], deadline: probeLimit, stallLimit: probeLimit)
        let start = service.clock.now()
        for _ in 0..<Self.probes {
            do throws(TransportError) {
                let answer = try await service.transport.answer(to: request, bodyLimit: TokenService.answerLimit)
                return answer.head.first(Self.flavor.name.lowercased()) == Self.flavor.value
            } catch {
                service.log(.debug, "no metadata server: \(error)")
            }
            // Where nothing answers, each try takes its whole limit: two are enough to say so within ten seconds.
            if start.duration(to: service.clock.now()) >= probeLimit * 2 { break }
        }
        return false
    }
}
