// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is compiled with these: a raw pointer needs the word `unsafe`, an import needs its declaration,
/// and a warning stops the build. MemberImportVisibility is not among them: with several C libraries in one module,
/// Swift 6.3 at times finds `timespec` and its like in a module that cannot be imported, and the build fails by chance.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "Firemount",
    products: [
        .executable(name: "firemount", targets: ["firemount"]),
        .library(name: "CloudStorage", targets: ["CloudStorage"]),
    ],
    targets: [
        // Doors to C libraries: what Swift cannot import, nothing else.
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "CFUSE", linkerSettings: [.linkedLibrary("fuse3")]),
        .target(name: "CCrypto", linkerSettings: [.linkedLibrary("crypto")]),
        .target(name: "CISAL", linkerSettings: [.linkedLibrary("isal")]),
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "CMicrohttpd", linkerSettings: [.linkedLibrary("microhttpd")]),

        // Shared ground.
        .target(name: "Locking", swiftSettings: strict),
        .target(name: "Logging", swiftSettings: strict),
        .target(name: "ObjectStore", dependencies: ["Locking"], swiftSettings: strict),

        // The way to a bucket.
        .target(name: "HTTPTransport", dependencies: ["CCurl", "Locking", "Logging"], swiftSettings: strict),
        .target(
            name: "CloudStores",
            dependencies: ["ObjectStore", "HTTPTransport", "CCrypto", "CISAL", "CSimdjson", "Locking", "Logging"],
            swiftSettings: strict),

        // The bucket as a Swift program sees it.
        .target(
            name: "CloudStorage",
            dependencies: ["ObjectStore", "CloudStores", "HTTPTransport", "CISAL", "Locking", "Logging"],
            swiftSettings: strict),

        .executableTarget(
            name: "UploadExample", dependencies: ["CloudStorage"], path: "Sources/Examples/UploadExample",
            swiftSettings: strict),
        .executableTarget(
            name: "DownloadExample", dependencies: ["CloudStorage"], path: "Sources/Examples/DownloadExample",
            swiftSettings: strict),

        // The mount.
        .target(
            name: "BucketFileSystem", dependencies: ["ObjectStore", "CISAL", "CSQLite", "Locking", "Logging"],
            swiftSettings: strict),
        .target(
            name: "FUSEBridge", dependencies: ["BucketFileSystem", "ObjectStore", "CFUSE", "Locking", "Logging"],
            swiftSettings: strict),
        .executableTarget(
            name: "firemount",
            dependencies: [
                "FUSEBridge", "BucketFileSystem", "CloudStores", "HTTPTransport", "ObjectStore", "BucketServer",
                "Locking",
                "Logging",
            ], swiftSettings: strict),

        // The local bucket: shares no code with the client side.
        .target(
            name: "BucketServer", dependencies: ["CMicrohttpd", "CSQLite", "CISAL", "CCrypto", "Locking"],
            swiftSettings: strict),

        // Tests.
        .target(
            name: "TestSupport", dependencies: ["ObjectStore", "Locking", "CISAL"], path: "Tests/TestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "HTTPTransportTests", dependencies: ["HTTPTransport", "TestSupport", "Locking", "Logging"],
            swiftSettings: strict),
        .testTarget(name: "ObjectStoreTests", dependencies: ["ObjectStore", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "CloudStoresTests",
            dependencies: [
                "CloudStores", "ObjectStore", "HTTPTransport", "BucketServer", "TestSupport", "Locking", "Logging",
                "CISAL",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CloudStorageTests",
            dependencies: [
                "CloudStorage", "BucketServer", "HTTPTransport", "ObjectStore", "TestSupport", "Locking", "Logging",
            ],
            swiftSettings: strict),
        // The guides' snippets stand in them as they are: unused values and all.
        .testTarget(
            name: "GuideTests", dependencies: ["CloudStorage", "Locking", "TestSupport"],
            swiftSettings: Array(strict.dropLast())),
        .testTarget(
            name: "BucketFileSystemTests",
            dependencies: ["BucketFileSystem", "ObjectStore", "TestSupport", "CISAL", "Locking", "Logging"],
            swiftSettings: strict),
        .testTarget(
            name: "FUSEBridgeTests",
            dependencies: [
                "FUSEBridge", "BucketFileSystem", "ObjectStore", "CFUSE", "TestSupport", "Locking", "Logging",
            ], swiftSettings: strict),
        .testTarget(
            name: "BucketServerTests", dependencies: ["BucketServer", "TestSupport", "Locking"],
            swiftSettings: strict),
        // Who may import whom; a real mount against real servers.
        .testTarget(name: "LayerTests", swiftSettings: strict),
        .testTarget(name: "MountTests", exclude: ["Programs"], swiftSettings: strict),
        .testTarget(
            name: "FiremountCommandTests",
            dependencies: [
                "firemount", "FUSEBridge", "BucketFileSystem", "CloudStores", "ObjectStore", "Locking", "Logging",
                "TestSupport",
            ], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// What nobody has vouched for does no harm. The same targets are a test and, for scripts/fuzz alone, a program: only
// that build has libFuzzer to link it with.
let fuzzed: [Target.Dependency] = [
    "CloudStores", "BucketFileSystem", "BucketServer", "HTTPTransport", "ObjectStore", "TestSupport", "Locking",
    "Logging",
]
if Context.environment["FIREMOUNT_FUZZING"] == nil {
    package.targets.append(
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed, exclude: ["Program", "Corpus"], swiftSettings: strict))
} else {
    package.targets.append(
        .executableTarget(
            name: "Fuzz", dependencies: fuzzed, path: "Tests/FuzzTests", exclude: ["CorpusTests.swift", "Corpus"],
            swiftSettings: strict))
}
