import BucketFileSystem
import CloudStores
import FUSEBridge
import Logging
import ObjectStore
import Testing

@testable import firemount

struct MountConfigurationTests {
    @Test func defaultsAreThoseOfTheManual() throws {
        let configuration = try configuration("mount gs://bucket/p dir", ["HOME": "/h"])
        #expect(configuration.endpoint == .google)
        #expect(configuration.credentials == .applicationDefault)
        #expect(configuration.timeout == .seconds(60))
        #expect(configuration.cacheDirectory == "/h/.cache/firemount")
        #expect(configuration.mount.mountPoint == "/here/dir")
        #expect(configuration.mount.source == "gs://bucket/p")
        #expect(configuration.fileSystem.prefix == ObjectName("p/"))
        #expect(configuration.fileSystem.metadataTTL == .seconds(60))
        #expect(configuration.fileSystem.negativeTTL == .seconds(5))
        #expect(configuration.fileSystem.memoryLimit == 256 << 20)
        #expect(configuration.fileSystem.owner == 1_000)
        #expect(configuration.fileSystem.group == 100)
        #expect(configuration.logDestination == .systemLog)
        #expect(configuration.logLevel == .warning)
    }

    @Test(arguments: [
        ("", UInt16(0o644), UInt16(0o755)), ("--umask 077", 0o600, 0o700), ("--umask 0", 0o666, 0o777),
        ("--file-mode 0660 --dir-mode 0770", 0o660, 0o770), ("--file-mode 0666 --umask 022", 0o644, 0o755),
    ])
    func theMaskTakesBitsAway(options: String, file: UInt16, directory: UInt16) throws {
        let configuration = try configuration("mount b d \(options)", ["HOME": "/h"])
        #expect(configuration.fileSystem.filePermissions == file)
        #expect(configuration.fileSystem.directoryPermissions == directory)
    }

    @Test(arguments: ["127.0.0.1:9199", "http://127.0.0.1:9199", "http://127.0.0.1:9199/"])
    func anEmulatorOfTheEnvironmentIsSpokenToAnonymously(host: String) throws {
        let environment = ["HOME": "/h", "STORAGE_EMULATOR_HOST": host]
        let plain = try configuration("mount b d", environment)
        #expect(plain.endpoint.root == "http://127.0.0.1:9199")
        #expect(plain.credentials == .anonymous)
        #expect(try configuration("mount b d --key-file k", environment).credentials == .keyFile("/here/k"))
    }

    @Test func anEndpointAsAnOptionWinsOverTheEnvironment() throws {
        let environment = ["HOME": "/h", "STORAGE_EMULATOR_HOST": "127.0.0.1:9199"]
        let configuration = try configuration("mount b d --endpoint https://example.com", environment)
        #expect(configuration.endpoint.root == "https://example.com")
        #expect(configuration.credentials == .applicationDefault)
    }

    @Test func theProtocolFollowsTheUser() throws {
        let environment = ["HOME": "/h", "XDG_CONFIG_HOME": "/c"]
        let kept = FirebaseIdentityFile("/c/firemount/identity.json")
        for options in ["--user", "--protocol firebase", "-o protocol=firebase"] {
            let configuration = try configuration("mount b d \(options)", environment)
            #expect(configuration.storageProtocol == .firebase)
            #expect(configuration.endpoint == .firebase)
            #expect(configuration.credentials == .firebaseUser(kept))
        }
        #expect(try configuration("mount b d --anonymous", environment).storageProtocol == .gcs)
        let anonymous = try configuration("mount b d --anonymous --protocol firebase", environment)
        #expect(anonymous.credentials == .anonymous)
        let file = try configuration("mount b d --token-file t --protocol firebase", environment)
        #expect(file.credentials == .tokenFile("/here/t", .firebase))
    }

    @Test func emulatorsOfFirebaseAreFoundInTheEnvironment() throws {
        let environment = [
            "HOME": "/h", "FIREBASE_STORAGE_EMULATOR_HOST": "127.0.0.1:1", "FIREBASE_AUTH_EMULATOR_HOST": "127.0.0.1:2",
        ]
        let user = try configuration("mount b d --user", environment)
        #expect(user.endpoint.root == "http://127.0.0.1:1")
        let auth = try ServiceEndpoint(parsing: "127.0.0.1:2")
        let kept = FirebaseIdentityFile("/h/.config/firemount/identity.json")
        #expect(user.credentials == .firebaseUser(kept, emulator: auth))
        #expect(try configuration("mount b d --protocol firebase", environment).credentials == .anonymous)
        #expect(try configuration("mount b d", environment).endpoint.root == "http://127.0.0.1:1")
    }

    @Test func anEmulatorThatIsNoAddressIsNamed() {
        let error = #expect(throws: CommandFailure.self) {
            try configuration("mount b d", ["HOME": "/h", "STORAGE_EMULATOR_HOST": "a b"])
        }
        #expect(error?.message.hasPrefix("STORAGE_EMULATOR_HOST: ") == true)
    }

    @Test func withoutHomeOnlyRootHasACache() throws {
        #expect(throws: CommandFailure.self) { try configuration("mount b d", [:]) }
        #expect(try configuration("mount b d --cache-dir c", [:]).cacheDirectory == "/here/c")
        var root = environment([:])
        root.userID = 0
        #expect(try MountConfiguration(mountRequest("mount b d"), root).cacheDirectory == "/var/cache/firemount")
    }

    @Test func rootLooksForJournalsOfBothItsHomeAndFstab() {
        var root = environment(["HOME": "/h"])
        root.userID = 0
        #expect(JournalSearch(MountSettings(), root).usual == ["/h/.cache/firemount", "/var/cache/firemount"])
        root.variables = [:]
        #expect(JournalSearch(MountSettings(), root).usual == ["/var/cache/firemount"])
        #expect(JournalSearch(MountSettings(), environment(["HOME": "/h"])).usual == ["/h/.cache/firemount"])
        #expect(JournalSearch(MountSettings(), environment([:])).usual.isEmpty)
    }

    @Test func whatIsLeftBehindIsListedByACommandThatFindsIt() throws {
        let usual = try configuration("mount gs://b/p d", ["HOME": "/h"])
        #expect(usual.recoverCommand == "firemount recover gs://b")
        let other = try configuration("mount gs://b/p d --cache-dir c", ["HOME": "/h"])
        #expect(other.recoverCommand == "firemount recover gs://b --cache-dir /here/c")
        let session = try configuration("mount gs://b d", ["HOME": "/h", "XDG_CACHE_HOME": "/x"])
        #expect(session.recoverCommand == "firemount recover gs://b --cache-dir /x/firemount")
    }

    @Test func relativeCacheHomesAreIgnored() throws {
        let relative = try configuration("mount b d", ["HOME": "/h", "XDG_CACHE_HOME": "x"])
        #expect(relative.cacheDirectory == "/h/.cache/firemount")
        let absolute = try configuration("mount b d", ["HOME": "/h", "XDG_CACHE_HOME": "/x"])
        #expect(absolute.cacheDirectory == "/x/firemount")
    }

    @Test func theLogGoesToTheTerminalInTheForeground() throws {
        let environment = ["HOME": "/h"]
        #expect(try configuration("mount b d -f", environment).logDestination == .standardError)
        #expect(try configuration("mount b d -f --log-file l", environment).logDestination == .file("/here/l"))
        #expect(try configuration("mount b d --log-file /l", environment).logDestination == .file("/l"))
    }

    private func configuration(_ line: String, _ variables: [String: String]) throws -> MountConfiguration {
        try MountConfiguration(mountRequest(line), environment(variables))
    }

    private func environment(_ variables: [String: String]) -> ProcessEnvironment {
        ProcessEnvironment(variables: variables, userID: 1_000, groupID: 100, workingDirectory: "/here")
    }
}
