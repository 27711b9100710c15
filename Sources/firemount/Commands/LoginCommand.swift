import CloudStores
import HTTPTransport
import Logging
import ObjectStore

/// `firemount login`: signs a Firebase user in and keeps the sign-in for the mounts that follow.
struct LoginCommand {
    let request: LoginRequest
    let environment: ProcessEnvironment

    /// The service is asked up to three times within nine seconds.
    private static let timeLimit = Duration.seconds(12)

    func run() throws(CommandFailure) {
        let file = try environment.identityFile()
        let emulator = try environment.authEmulator()
        let way = try self.way()
        let log = try LogDestination.standardError.logger(level: .warning, format: .text)
        let transport = CurlTransport(configuration: CurlTransport.Configuration(), log: log)
        defer { transport.shutDown() }
        let auth: FirebaseAuth
        do {
            auth = try FirebaseAuth(
                apiKey: try apiKey(isEmulator: emulator != nil), emulator: emulator, transport: transport, log: log)
        } catch {
            throw CommandFailure("\(error)")
        }
        let identity = try signIn(way, auth)
        try check(identity)
        try keep(identity, in: file)
        printLine("Signed in as \(identity.forPeople).")
    }

    private enum Way {
        case password(email: String, String)
        case anonymous
        case customToken(String)
    }

    private func way() throws(CommandFailure) -> Way {
        if let email = request.email { return .password(email: email.text, try password(of: email.text)) }
        guard let file = request.customTokenFile else { return .anonymous }
        let path = environment.absolutePath(file)
        do {
            let text = String(decoding: try Files.contents(of: path), as: UTF8.self)
            return .customToken(String(text.filter { !$0.isWhitespace }))
        } catch {
            throw CommandFailure("\(path): \(error); name the file that holds the custom token")
        }
    }

    private func password(of email: String) throws(CommandFailure) -> String {
        let password: String?
        do {
            password = try PasswordPrompt.read("Password of \(email): ")
        } catch {
            throw CommandFailure("the password cannot be read: \(error)")
        }
        guard let password, !password.isEmpty else {
            throw CommandFailure("there is no password; type it at the prompt, or write it to standard input")
        }
        return password
    }

    private func apiKey(isEmulator: Bool) throws(CommandFailure) -> String {
        if let key = request.apiKey ?? environment["FIREBASE_API_KEY"].flatMap(Text.init(spelling:)) { return key.text }
        // Emulators take any.
        guard isEmulator else {
            throw CommandFailure(
                "no API key; give --api-key with the project's web API key (Firebase console, settings)")
        }
        return "emulator"
    }

    private func signIn(_ way: Way, _ auth: FirebaseAuth) throws(CommandFailure) -> FirebaseIdentity {
        let answer: Result<FirebaseSignIn, StorageError>?
        do {
            answer = try wait(atMost: Self.timeLimit) { await Self.ask(way, auth) }
        } catch {
            throw CommandFailure("cannot wait for the sign-in: \(error)")
        }
        switch answer {
        case .success(let signIn): return signIn.identity
        case .failure(let error): throw CommandFailure("cannot sign in: \(error.message)")
        case nil: throw CommandFailure("no answer from the sign-in service; check the network")
        }
    }

    private static func ask(_ way: Way, _ auth: FirebaseAuth) async -> Result<FirebaseSignIn, StorageError> {
        do throws(StorageError) {
            switch way {
            case .password(let email, let password):
                return .success(try await auth.signIn(email: email, password: password))
            case .anonymous: return .success(try await auth.signInAnonymously())
            case .customToken(let token): return .success(try await auth.signIn(customToken: token))
            }
        } catch {
            return .failure(error)
        }
    }

    private func check(_ identity: FirebaseIdentity) throws(CommandFailure) {
        guard let wanted = request.project?.text, let project = identity.projectID, wanted != project else { return }
        throw CommandFailure(
            "the API key belongs to the project \(project), not to \(wanted); nobody is signed in by it")
    }

    private func keep(_ identity: FirebaseIdentity, in file: FirebaseIdentityFile) throws(CommandFailure) {
        let folder = parentDirectory(of: file.path)
        do {
            try Files.makeDirectories(folder)
        } catch {
            throw CommandFailure("cannot make the directory \(folder): \(error)")
        }
        do { try file.write(identity) } catch { throw CommandFailure("\(error)") }
    }
}

/// `firemount logout`: forgets the sign-in. Mounts that use it go on until their token ends.
struct LogoutCommand {
    let environment: ProcessEnvironment

    func run() throws(CommandFailure) {
        do throws(CredentialError) {
            let file: FirebaseIdentityFile
            do { file = try environment.identityFile() } catch { return printLine(error.message) }
            printLine(try file.remove() ? "Signed out." : "Nobody was signed in.")
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}

/// `firemount whoami`: who is signed in.
struct WhoamiCommand {
    let environment: ProcessEnvironment

    func run() throws(CommandFailure) {
        let file = try environment.identityFile()
        let identity: FirebaseIdentity?
        do { identity = try file.read() } catch { throw CommandFailure("\(error)") }
        guard let identity else { throw CommandFailure("nobody is signed in; sign in with firemount login") }
        printLine(identity.forPeople)
    }
}

extension FirebaseIdentity {
    /// One line without secrets.
    fileprivate var forPeople: String {
        let name = email ?? (provider == "anonymous" ? "an anonymous user" : "a user")
        let project = projectID.map { ", project \($0)" } ?? ""
        let place = emulator.map { ", at \($0)" } ?? ""
        return "\(name), uid \(uid)\(project)\(place)"
    }
}
