import HTTPTransport
import Logging
import ObjectStore
import TestSupport

@testable import CloudStores

/// What says who we are: files that tools have written, and what services answer to a sign-in or for a token. The first
/// byte says which, the rest is the file or the answers.
enum CredentialsTarget {
    private static let directory = temporaryDirectory()
    private static let log = Logger(level: .error) { _, _ in }

    static func run(_ input: [UInt8]) -> Bool {
        let rest = input.dropFirst()
        // An empty file is left out: Foundation forgets the memory that it reads one into.
        guard let first = input.first, !rest.isEmpty else { return false }
        switch first % 8 {
        case 0: return readsKeyFile(Array(rest))
        case 1: return readsTokenFile(Array(rest))
        case 2: return readsIdentity(Array(rest))
        case 3: return readsAddress(String(decoding: rest, as: UTF8.self))
        default: return asks(Int(first % 8), rest)
        }
    }

    // MARK: Files

    private static func readsKeyFile(_ bytes: [UInt8]) -> Bool {
        do throws(CredentialError) {
            _ = try CredentialFile(file(bytes)).source(service(deaf))
            return true
        } catch {
            checkWords(error)
            return false
        }
    }

    private static func readsTokenFile(_ bytes: [UInt8]) -> Bool {
        do throws(CredentialError) {
            let source = try TokenFile(file(bytes), clock: .system)
            if let authorization = source.cachedAuthorization() { check(authorization) }
            return true
        } catch {
            checkWords(error)
            return false
        }
    }

    private static func readsIdentity(_ bytes: [UInt8]) -> Bool {
        let file = FirebaseIdentityFile(file(bytes))
        do throws(CredentialError) {
            guard let identity = try file.read() else { return false }
            let service = service(deaf)
            let credential = try FirebaseUserCredential(identity, keptIn: nil, emulator: nil, service, token: nil)
            precondition(credential.cachedAuthorization() == nil, "a token from nowhere")
            return true
        } catch {
            checkWords(error)
            return false
        }
    }

    private static func readsAddress(_ text: String) -> Bool {
        _ = (IDToken(text), TokenService.mayBeAsked(text))
        guard let endpoint = try? ServiceEndpoint(parsing: text) else { return false }
        precondition(
            endpoint.root.last != "/" && (try? ServiceEndpoint(parsing: endpoint.root)) == endpoint, endpoint.root)
        return true
    }

    private static func file(_ bytes: [UInt8]) -> String {
        let path = "\(directory.path)/credential"
        write(bytes, to: path)
        return path
    }

    // MARK: Services

    private static let deaf = AnsweringTransport([], on: WaitingThread())
    private static let clock = CredentialClock(now: { .now }, unixTime: { 1_767_225_600 }, sleep: { _ in })

    private static func service(_ transport: AnsweringTransport) -> TokenService {
        TokenService(transport: transport, log: log, clock: clock)
    }

    private static func asks(_ number: Int, _ answers: ArraySlice<UInt8>) -> Bool {
        WaitingThread.wait { thread in
            // What is thrown is the outcome that most inputs deserve.
            do {
                let service = service(AnsweringTransport(answers, on: thread))
                switch number {
                case 4, 5:
                    let issuer: any TokenIssuer = number == 4 ? MetadataServer([:]) : FixedForm()
                    check(try await RefreshingCredential(of: issuer, service).authorization(replacing: nil))
                case 6:
                    let auth = try FirebaseAuth(apiKey: "key", emulator: nil, service)
                    let signIn = try await auth.signIn(email: "a@example.com", password: "secret")
                    precondition(!signIn.identity.uid.isEmpty && !signIn.identity.refreshToken.isEmpty, "nobody")
                default:
                    let identity = FirebaseIdentity(apiKey: "key", uid: "uid", refreshToken: "refresh")
                    let credential = try FirebaseUserCredential(
                        identity, keptIn: nil, emulator: nil, service, token: nil)
                    check(try await credential.authorization(replacing: nil))
                }
                return true
            } catch { return false }
        }
    }

    private struct FixedForm: TokenIssuer {
        func token(by service: TokenService) async throws(StorageError) -> AccessToken {
            try await service.token(posting: [("grant_type", "refresh_token")], to: "https://localhost/token")
        }
    }

    // MARK: What must hold of what is let through

    /// Its value goes into a header as it is.
    private static func check(_ authorization: Authorization) {
        precondition(authorization.value?.utf8.allSatisfy { (0x20..<0x7F).contains($0) } != false, "\(authorization)")
    }

    private static func checkWords(_ error: CredentialError) {
        precondition(!error.message.isEmpty, "no word of what is wrong")
    }
}
