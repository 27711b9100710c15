import BucketServer
import CloudStores
import Glibc

/// `firemount demo`: a local server and a mount of its one bucket, until Ctrl-C. Everything lies in one directory for
/// temporary files, which goes away at the end.
struct DemoCommand {
    let request: DemoRequest
    let environment: ProcessEnvironment

    private static let bucket = "demo"

    func run() throws(CommandFailure) -> Int32 {
        let folder = try temporaryFolder()
        defer { Self.remove(folder) }
        var configuration = LocalServer.Configuration(dataDirectory: "\(folder)/server")
        configuration.buckets = [Self.bucket]
        let (server, url) = try LocalServer.started(configuration)
        defer { server.stop() }

        let mountPoint = request.mountPoint.map(environment.absolutePath) ?? "\(folder)/\(Self.bucket)"
        let isOurs = (try? Files.status(of: mountPoint)) == nil
        if isOurs { try make(mountPoint) }
        defer { if isOurs { _ = Files.removeIfEmpty(mountPoint) } }

        let mount = try MountConfiguration(mountRequest(url, mountPoint, cache: "\(folder)/cache"), environment)
        let status = try MountCommand(mount, environment).run(environment) {
            Self.fill(mountPoint)
            Self.explain(mountPoint, url)
            return true
        }
        printLine("The demo has ended and is removed.")
        return status
    }

    private func mountRequest(
        _ url: String, _ mountPoint: String, cache: String
    ) throws(CommandFailure) -> MountRequest {
        var settings = MountSettings()
        settings.isForeground = true
        settings.isAnonymous = true
        settings.endpoint = ServiceEndpoint(spelling: url)
        settings.cacheDirectory = TypedPath(spelling: cache)
        settings.logLevel = request.logLevel
        do {
            return try MountRequest(operands: ["gs://\(Self.bucket)", mountPoint], settings: settings)
        } catch {
            throw CommandFailure(error.message)
        }
    }

    private func temporaryFolder() throws(CommandFailure) -> String {
        let parent = environment.temporaryDirectory
        do { return try Files.makeTemporaryDirectory(in: parent, prefix: "firemount-demo.") } catch {
            throw CommandFailure(
                "cannot make a directory in \(parent): \(error); set TMPDIR to a place that can be written")
        }
    }

    private func make(_ mountPoint: String) throws(CommandFailure) {
        do { try Files.makeDirectories(mountPoint) } catch {
            throw CommandFailure("cannot make the mount point \(mountPoint): \(error)")
        }
    }

    private static func remove(_ folder: String) {
        do { try Files.removeTree(folder) } catch {
            printLine("firemount: \(folder) could not be removed: \(error)", to: STDERR_FILENO)
        }
    }

    /// A few files to look at, written through the mount. What cannot be written is not there to look at, no more.
    private static func fill(_ mountPoint: String) {
        let files = [
            "hello.txt": "This file is an object in a bucket.\n",
            "notes/monday.txt": "Folders are the parts of objects' names between slashes.\n",
            "notes/tuesday.txt": "Edit me: saving stores the object anew, in one piece.\n",
        ]
        for (name, text) in files {
            let path = "\(mountPoint)/\(name)"
            try? Files.makeDirectories(parentDirectory(of: path))
            try? Descriptor.open(path, O_WRONLY | O_CREAT, mode: 0o644).write(Array(text.utf8))
        }
    }

    private static func explain(_ mountPoint: String, _ url: String) {
        printLine(
            """
            The bucket gs://\(bucket) is mounted on \(mountPoint)
            Try in another terminal:

              ls -lR \(mountPoint)
              echo more >>\(mountPoint)/hello.txt
              cp -r /usr/include/linux \(mountPoint)/
              curl '\(url)/storage/v1/b/\(bucket)/o?delimiter=/'        # what the server has

            Ctrl-C here ends it and removes everything.
            """)
    }
}
