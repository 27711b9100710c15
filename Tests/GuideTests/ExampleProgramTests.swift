import CloudStorage
import Foundation
import Glibc
import TestSupport
import Testing

/// The programs of Sources/Examples, as a user would run them.
struct ExampleProgramTests {
    private let server: GuideServer
    private let folder = temporaryDirectory()

    init() throws { server = try GuideServer() }

    private func run(_ name: String, _ arguments: String...) async throws -> Program.Outcome {
        let program = try Program(
            [Program.path(name)] + arguments, environment: server.environment, outputFile: "\(folder.path)/output")
        return try await program.wait()
    }

    private func file(_ name: String) -> String { "\(folder.path)/\(name)" }

    @Test func aFileGoesUpAndComesBack() async throws {
        try imageBytes.write(to: URL(fileURLWithPath: file("image.jpg")))
        let upload = try await run("UploadExample", file("image.jpg"), "images/mountains.jpg")
        #expect(upload.status == 0, "\(upload.output)")
        #expect(upload.output.contains("[########################################] 100 %"))
        #expect(upload.output.hasSuffix("50000 bytes, image/jpeg\n"))
        let download = try await run("DownloadExample", "images/mountains.jpg", file("back.jpg"))
        #expect(download.status == 0, "\(download.output)")
        #expect(download.output.contains("100 %"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file("back.jpg"))) == imageBytes)
    }

    @Test func failuresAreExplained() async throws {
        let missing = try await run("DownloadExample", "none", file("none"))
        #expect(missing.status == 1)
        #expect(missing.output.hasSuffix("there is no such object\n"))
        #expect(try await run("UploadExample", file("none"), "x").status == 1)
        #expect(try await run("UploadExample").status == 2)
    }

    /// Both ways, and not a byte more memory for each byte more of the file.
    @Test func aGigabyteFitsInSmallMemory() async throws {
        try Data("small".utf8).write(to: URL(fileURLWithPath: file("small")))
        let idleUpload = try await run("UploadExample", file("small"), "small").peakMemory
        let idleDownload = try await run("DownloadExample", "small", file("small.back")).peakMemory
        let size = 1 << 30
        let big = try Program(
            ["dd", "if=/dev/urandom", "of=\(file("big"))", "bs=1M", "count=\(size >> 20)", "status=none"],
            environment: ProcessInfo.processInfo.environment, outputFile: file("dd.log"))
        #expect(try await big.wait().status == 0)
        let upload = try await run("UploadExample", file("big"), "big")
        #expect(upload.output.hasSuffix("\(size) bytes, application/octet-stream\n"))
        #expect(upload.peakMemory - idleUpload < 64 << 20, "\(upload.peakMemory - idleUpload)")
        let download = try await run("DownloadExample", "big", file("back"))
        #expect(download.output.hasSuffix("\(size) bytes\n"))
        #expect(download.peakMemory - idleDownload < 64 << 20, "\(download.peakMemory - idleDownload)")
        let comparison = try Program(
            ["cmp", file("big"), file("back")], environment: ProcessInfo.processInfo.environment,
            outputFile: file("cmp.log"))
        #expect(try await comparison.wait().status == 0)
    }
}
