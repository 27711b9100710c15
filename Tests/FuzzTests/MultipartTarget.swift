@testable import BucketServer

/// A multipart body at the local server, and JSON in it: in whatever pieces it comes, its parts are the same.
enum MultipartTarget {
    static func run(_ input: [UInt8]) -> Bool {
        let whole = parts(of: input, pieceSize: max(input.count, 1))
        for size in [1, 7] {
            precondition(parts(of: input, pieceSize: size) == whole, "pieces of \(size) make other parts")
        }
        for part in whole?.bodies ?? [] { _ = try? JSONValue.parse(part) }
        return whole != nil
    }

    private struct Parts: Equatable {
        var headers: [[String]] = []
        var bodies: [[UInt8]] = []
    }

    private final class Collector: MultipartSink {
        var parts = Parts()
        var isInPart = false

        func partBegan(_ headers: Headers) {
            precondition(!isInPart, "a part in a part")
            isInPart = true
            parts.headers.append(headers.withPrefix("").map { "\($0.name): \($0.value)" })
            parts.bodies.append([])
        }

        func partContinued(_ bytes: ArraySlice<UInt8>) {
            precondition(isInPart, "bytes of no part")
            parts.bodies[parts.bodies.count - 1] += bytes
        }

        func partEnded() { isInPart = false }
    }

    /// nil: refused, or cut short.
    private static func parts(of input: [UInt8], pieceSize: Int) -> Parts? {
        let collector = Collector()
        do throws(APIError) {
            var reader = try MultipartReader(contentType: "multipart/related; boundary=B")
            for start in stride(from: 0, to: input.count, by: pieceSize) {
                try reader.read(Array(input[start..<min(start + pieceSize, input.count)]), into: collector)
            }
            return reader.isFinished ? collector.parts : nil
        } catch { return nil }
    }
}
