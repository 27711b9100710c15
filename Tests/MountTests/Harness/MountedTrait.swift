import Testing

/// Mounts a bucket of each server once for all tests of a suite: each test takes a folder of its own in it.
struct MountedTrait: SuiteTrait, TestScoping {
    let servers: [Server]
    let options: [String]

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        var mounts: [Server: MountedBucket] = [:]
        defer { mounts.values.forEach { $0.tearDown() } }
        for server in servers { mounts[server] = try MountedBucket(on: server, options: options) }
        try await Mounts.$current.withValue(mounts) { try await function() }
    }
}

extension Trait where Self == MountedTrait {
    static func mounted(_ servers: [Server] = Server.allCases, options: [String] = MountedBucket.quickOptions) -> Self {
        MountedTrait(servers: servers, options: options)
    }
}

/// The mounts of the suite that is running.
enum Mounts {
    @TaskLocal static var current: [Server: MountedBucket] = [:]

    static func bucket(on server: Server) throws -> MountedBucket {
        try #require(current[server], "the suite is not marked .mounted")
    }

    static func folder(on server: Server) throws -> MountedFolder { try bucket(on: server).newFolder() }

    static func prefix(on server: Server) throws -> MountedFolder { try bucket(on: server).newPrefix() }
}
