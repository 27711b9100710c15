import Foundation
import Testing

/// What cannot be mounted says why in one line that names the thing and the way out, and leaves nothing behind.
@Suite struct BadInputTests {
    private let folder: TemporaryFolder
    private let server: RunningServer

    init() throws {
        folder = try TemporaryFolder("bad-input")
        server = try RunningServer(.local, folder: folder.path)
    }

    /// A mount that cannot be: what is wrong, the words after the program's name, what the line must hold. `M` is an
    /// empty directory, `U` the server's URL, `T` a directory with what `arrange` makes in it.
    struct BadMount: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let words: String
        let says: [String]

        init(_ description: String, _ words: String, says: String...) {
            testDescription = description
            self.words = words
            self.says = says
        }
    }

    private static let bucket = "gs://\(RunningServer.bucketName)"

    static let badMounts = [
        BadMount(
            "a missing bucket", "gs://no-such-bucket M --anonymous --endpoint U", says: "gs://no-such-bucket", "name"),
        BadMount("a missing mount point", "\(bucket) T/none --anonymous --endpoint U", says: "T/none", "mkdir"),
        BadMount(
            "a file as mount point", "\(bucket) T/file --anonymous --endpoint U", says: "T/file", "not a directory"),
        BadMount(
            "a mount point that is in use", "\(bucket) T/full --anonymous --endpoint U", says: "T/full", "--nonempty"),
        BadMount("an occupied mount point", "\(bucket) /proc --anonymous --endpoint U", says: "/proc", "occupied"),
        BadMount(
            "a server that is not there", "\(bucket) M --anonymous --endpoint http://127.0.0.1:1", says: "127.0.0.1:1"),
        BadMount("a server that is no bucket server", "\(bucket) M --anonymous --endpoint U/other", says: "U/other"),
        BadMount(
            "a cache directory that cannot be made", "\(bucket) M --anonymous --endpoint U --cache-dir /proc/c",
            says: "/proc/c", "--cache-dir"),
        BadMount(
            "a cache directory in the mount", "\(bucket) M --anonymous --endpoint U --cache-dir M/cache",
            says: "M/cache", "--cache-dir"),
        BadMount(
            "a log file that cannot be written", "\(bucket) M --anonymous --endpoint U --log-file T/file/log",
            says: "T/file/log", "--log-file"),
        BadMount("a missing key file", "\(bucket) M --endpoint U --key-file T/none.json", says: "T/none.json"),
        BadMount("a key file that is none", "\(bucket) M --endpoint U --key-file T/file", says: "T/file"),
        BadMount("a key without a key", "\(bucket) M --endpoint U --key-file T/key.json", says: "T/key.json"),
        BadMount("a missing token file", "\(bucket) M --endpoint U --token-file T/none", says: "T/none"),
        BadMount("no credentials", "\(bucket) M --endpoint U", says: "--anonymous", "--key-file"),
    ]

    @Test(arguments: badMounts, ["--foreground", "--read-only"])
    func whatCannotBeMountedSaysWhyInOneLine(mount: BadMount, option: String) throws {
        try arrange()
        let words = expanded(mount.words).split(separator: " ").map(String.init) + [option]
        let cache = words.contains("--cache-dir") ? [] : ["--cache-dir", "\(folder.path)/cache"]
        var outcome: Tool.Outcome?

        let time = try ContinuousClock().measure { outcome = try firemount(["mount"] + words + cache) }

        let said = try #require(outcome)
        #expect(said.status == 1, "\(said.output)")
        #expect(said.output.hasPrefix("firemount: "))
        #expect(said.output.split(separator: "\n").count == 1, "\(said.output)")
        for part in mount.says { #expect(said.output.contains(expanded(part)), "\(said.output)") }
        #expect(time < .seconds(12))
        let left = try Tool().run([
            "bash", "-c", "! grep -F '\(folder.path)' /proc/mounts && ! ls -A '\(folder.path)/M' | grep .",
        ])
        #expect(left.status == 0, "left behind: \(left.output)")
        let staged = try Tool().run(["bash", "-c", "ls -A '\(folder.path)/cache/staging' 2>/dev/null || true"])
        #expect(staged.output.isEmpty)
    }

    @Test(arguments: [
        ("--metadata-ttl 2", "500ms"), ("--memory-limit many", "64MiB"), ("--file-mode rw", "octal"),
        ("--wat", "unknown option --wat"), ("-o wat", "unknown mount option 'wat'"), ("--endpoint ftp://x", "http"),
        ("--protocol ftp", "gcs"), ("--anonymous --key-file k", "exclude each other"),
        ("one-more", "one word too many"),
    ])
    func whatIsTypedWrongShowsItsUsage(words: String, says: String) throws {
        let outcome = try firemount(["mount", Self.bucket, folder.path] + words.split(separator: " ").map(String.init))
        #expect(outcome.status == 2)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 2, "\(outcome.output)")
        #expect(lines.first?.hasPrefix("firemount: ") == true)
        #expect(lines.first?.contains(says) == true, "\(outcome.output)")
        #expect(lines.last?.hasPrefix("usage: ") == true)
    }

    @Test func aServerThatAcceptsAndSaysNothingIsGivenUp() throws {
        try arrange()
        let script = """
            import socket, time
            s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(8)
            print("http://127.0.0.1:%d" % s.getsockname()[1], flush=True); time.sleep(60)
            """
        let silent = try Service(["/usr/bin/python3", "-c", script], folder: folder.path, name: "silent")
        defer { silent.stop() }
        try silent.wait { silent.log.hasSuffix("\n") }
        let url = silent.log.trimmingCharacters(in: .whitespacesAndNewlines)

        let time = try ContinuousClock().measure {
            let outcome = try firemount(
                [
                    "mount", Self.bucket, "\(folder.path)/M", "--anonymous", "--endpoint", url, "--cache-dir",
                    folder.path,
                ])
            #expect(outcome.status == 1)
            #expect(outcome.output.contains(url), "\(outcome.output)")
        }
        #expect(time < .seconds(12))
    }

    @Test func serveNamesAPortThatIsTaken() throws {
        let port = try #require(server.url.split(separator: ":").last)
        let outcome = try firemount(["serve", "--data", "\(folder.path)/other", "--port", String(port)])
        #expect(outcome.status == 1)
        #expect(outcome.output.contains(port), "\(outcome.output)")
        #expect(outcome.output.split(separator: "\n").count == 1)
    }

    @Test(arguments: ["unmount T/none", "unmount T/full", "unmount /proc"])
    func unmountNamesWhatItCannotUnmount(line: String) throws {
        try arrange()
        let words = expanded(line).split(separator: " ").map(String.init)
        let outcome = try firemount(words)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains(words[1]), "\(outcome.output)")
        #expect(outcome.output.split(separator: "\n").count == 1)
    }

    private func arrange() throws {
        for name in ["M", "T", "T/full"] { _ = try folder.subfolder(name) }
        for name in ["T/file", "T/full/file"] {
            try Data("text\n".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
        }
        let key = #"{"type": "service_account", "client_email": "a@b", "private_key": "no key"}"#
        try Data(key.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/T/key.json"))
    }

    /// With the letters replaced by what they stand for.
    private func expanded(_ words: String) -> String {
        words.split(separator: " ").map { word in
            guard let letter = word.first, word.count == 1 || word.dropFirst().first == "/" else { return String(word) }
            switch letter {
            case "M", "T": return "\(folder.path)/\(word)"
            case "U": return server.url + word.dropFirst()
            default: return String(word)
            }
        }.joined(separator: " ")
    }

    /// Without what the environment could bring in: credentials, an emulator, a metadata server.
    private func firemount(_ words: [String]) throws -> Tool.Outcome {
        let clean = ["env", "-i", "HOME=\(folder.path)", "PATH=/usr/bin:/bin", "NO_GCE_CHECK=true"]
        return try Tool(limit: .seconds(30)).run(clean + [Programs.firemount] + words)
    }
}
