/// A bucket and the part of it to mount, as people write them: `gs://BUCKET`, `gs://BUCKET/PREFIX`, `BUCKET`,
/// `BUCKET:PREFIX`.
struct BucketSpelling: Equatable, Sendable {
    let bucket: String
    /// Empty, or ends in `/`; otherwise exactly as written.
    let prefix: String

    init(_ text: String) throws(UsageError) {
        let parts: [Substring]
        if text.hasPrefix("gs://") {
            parts = text.dropFirst("gs://".count).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        } else if text.contains("://") || text.hasPrefix("gs:") {
            throw Self.refusal(of: text)
        } else {
            parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        }
        bucket = String(parts.first ?? "")
        let rest = parts.count == 2 ? String(parts[1]) : ""
        prefix = rest.isEmpty || rest.hasSuffix("/") ? rest : rest + "/"
        guard Self.isBucketName(bucket) else { throw Self.refusal(of: text) }
        // 1,024: the longest object name, in bytes.
        guard prefix.utf8.count < 1_024 else {
            throw UsageError("the prefix in '\(text)' is longer than an object name")
        }
    }

    /// `gs://BUCKET` or `gs://BUCKET/PREFIX`.
    var url: String { "gs://\(bucket)" + (prefix.isEmpty ? "" : "/\(prefix.dropLast())") }

    /// The characters and the length that bucket names can have; the finer rules are the service's to check.
    private static func isBucketName(_ name: String) -> Bool {
        let marks = Array("-_.".utf8)
        let isLegal = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: marks.contains(byte)
            }
        }
        // 222: the longest name with dots.
        return isLegal && (1...222).contains(name.utf8.count) && name.utf8.contains { !marks.contains($0) }
    }

    private static func refusal(of text: String) -> UsageError {
        if text.hasPrefix("/") || text.hasPrefix(".") {
            return UsageError("'\(text)' is a path, not a bucket; the bucket comes first, then the mount point")
        }
        // Buckets have names of three characters at least: this is no prefix in one that is called gs.
        let isMisspelt = text.hasPrefix("gs:") && !text.hasPrefix("gs://")
        let rest = text.dropFirst("gs:".count).drop { $0 == "/" }
        if isMisspelt, let meant = try? BucketSpelling("gs://\(rest)") {
            return UsageError("'\(text)' is no bucket; did you mean \(meant.url)?")
        }
        return UsageError("'\(text)' is no bucket; accepted: gs://BUCKET, gs://BUCKET/PREFIX, BUCKET or BUCKET:PREFIX")
    }
}
