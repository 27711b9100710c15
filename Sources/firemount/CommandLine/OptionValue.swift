import CloudStores
import Logging

/// A value as people write it after an option.
protocol OptionValue: Sendable {
    /// How usage lines call it: `D`, `FILE`.
    static var placeholder: String { get }
    /// Says what is accepted, in a sentence that follows "accepted: ".
    static var forms: String { get }

    init?(spelling: String)
}

extension Duration: OptionValue {
    static let placeholder = "D"
    static let forms = "a number and its unit, such as 500ms, 2s, 5m or 1h; or 0"

    init?(spelling: String) {
        if spelling == "0" {
            self = .zero
            return
        }
        let unitMilliseconds: [String: Int64] = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000]
        guard let (count, unit) = splitQuantity(spelling), let milliseconds = unitMilliseconds[unit] else { return nil }
        let (product, overflows) = count.multipliedReportingOverflow(by: milliseconds)
        // A hundred years; what is longer is a slip of the keyboard, and would overflow where deadlines are computed.
        guard !overflows, product <= 3_155_760_000_000 else { return nil }
        self = .milliseconds(product)
    }
}

/// A number of bytes.
struct ByteCount: OptionValue, Equatable {
    let bytes: Int64

    static let placeholder = "N"
    static let forms = "a number of bytes with or without a unit, such as 64MiB, 512K or 1GB"

    static func mebibytes(_ count: Int64) -> ByteCount { ByteCount(bytes: count << 20) }

    init(bytes: Int64) { self.bytes = bytes }

    /// `K`, `KiB` … are powers of 1,024; `KB` … powers of 1,000.
    init?(spelling: String) {
        guard let (count, unit) = splitQuantity(spelling), let factor = Self.factors[unit.lowercased()] else {
            return nil
        }
        let (product, overflows) = count.multipliedReportingOverflow(by: factor)
        guard !overflows else { return nil }
        bytes = product
    }

    private static let factors: [String: Int64] = [
        "": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "kb": 1_000, "m": 1 << 20, "mib": 1 << 20, "mb": 1_000_000,
        "g": 1 << 30, "gib": 1 << 30, "gb": 1_000_000_000, "t": 1 << 40, "tib": 1 << 40, "tb": 1_000_000_000_000,
    ]
}

/// Permission bits, as `chmod` takes them.
struct Permissions: OptionValue, Equatable {
    let bits: UInt16

    static let placeholder = "MODE"
    static let forms = "permission bits in octal, such as 0644 or 750"

    init(bits: UInt16) { self.bits = bits }

    init?(spelling: String) {
        guard isDecimal(spelling), let bits = UInt16(spelling, radix: 8), bits <= 0o777 else { return nil }
        self.bits = bits
    }
}

/// A user or group number.
struct OwnerNumber: OptionValue, Equatable {
    let number: UInt32

    static let placeholder = "N"
    static let forms = "a number, such as 1000"

    init?(spelling: String) {
        // The highest number means "no change" to the kernel.
        guard isDecimal(spelling), let number = UInt32(spelling), number != .max else { return nil }
        self.number = number
    }
}

/// A TCP port; 0 takes a free one.
struct Port: OptionValue, Equatable {
    let number: UInt16

    static let placeholder = "N"
    static let forms = "a port number from 0 to 65535; 0 takes a free one"

    init(number: UInt16) { self.number = number }

    init?(spelling: String) {
        guard isDecimal(spelling), let number = UInt16(spelling) else { return nil }
        self.number = number
    }
}

/// The name or address of a host.
struct HostName: OptionValue, Equatable {
    let text: String

    static let placeholder = "HOST"
    static let forms = "a host's name or address, such as localhost or 127.0.0.1"

    init?(spelling: String) {
        guard !spelling.isEmpty, spelling.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "/") }) else { return nil }
        text = spelling
    }
}

/// Words that are taken as they are.
struct Text: OptionValue, Equatable {
    let text: String

    static let placeholder = "TEXT"
    static let forms = "anything but nothing"

    init?(spelling: String) {
        guard !spelling.isEmpty else { return nil }
        text = spelling
    }
}

/// A path as typed: relative ones mean the directory the command was started in.
struct TypedPath: OptionValue, Equatable {
    let text: String

    static let placeholder = "PATH"
    static let forms = "a path"

    init?(spelling: String) {
        guard !spelling.isEmpty else { return nil }
        text = spelling
    }
}

extension ServiceEndpoint: OptionValue {
    static let placeholder = "URL"
    static let forms = "the root of a service, such as https://storage.googleapis.com or http://127.0.0.1:9199"

    init?(spelling: String) {
        guard let endpoint = try? ServiceEndpoint(parsing: spelling) else { return nil }
        self = endpoint
    }
}

/// Which protocol the bucket is spoken to with.
enum StorageProtocol: String, OptionValue, CaseIterable {
    case auto, firebase, gcs

    static let placeholder = "NAME"
    static let forms = "auto, firebase or gcs"

    init?(spelling: String) { self.init(rawValue: spelling) }
}

enum LogFormat: String, OptionValue, CaseIterable {
    case text, json

    static let placeholder = "FORMAT"
    static let forms = "text or json"

    init?(spelling: String) { self.init(rawValue: spelling) }
}

extension LogLevel: OptionValue {
    static let placeholder = "LEVEL"
    static let forms = LogLevel.allCases.map(\.name).joined(separator: ", ")

    var name: String { String(describing: self) }

    init?(spelling: String) {
        guard let level = LogLevel.allCases.first(where: { $0.name == spelling }) else { return nil }
        self = level
    }
}

/// Digits, then letters: `64MiB` is 64 and `MiB`.
private func splitQuantity(_ text: String) -> (count: Int64, unit: String)? {
    let digits = text.utf8.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    guard let count = Int64(Substring(digits)) else { return nil }
    return (count, String(text.dropFirst(digits.count)))
}

/// `Int(_:)` also takes a sign, which no number here has.
private func isDecimal(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
}
