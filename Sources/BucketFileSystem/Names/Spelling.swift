/// How an object name's segment (what lies between two slashes) is spelled as a directory entry, and back.
///
/// Nearly every segment is its own spelling. Those that no file can be called get U+FF05 (fullwidth percent sign) and
/// two upper-case hexadecimal digits for a byte, `%` for the sign here:
///
/// - `.` and `..` are `%2E` and `%2E%2E`; a NUL is `%00`; an empty segment is `%` alone.
/// - a folder beside a file of the same name has `%2F`, its slash, at its end; the file keeps the plain name.
/// - a segment of more than 255 bytes is its beginning, `%~` and a hash of the whole; only a listing knows it back.
/// - the sign itself, where it would be read as one of these, is spelled by its own three bytes.
///
/// Each object has one spelling, and each spelling one object.
enum Spelling {
    /// What an entry name stands for.
    struct Segment: Equatable {
        var bytes: [UInt8]
        var isFolderBesideFile = false
        /// The name is a shortened one: `bytes` are not known from it.
        var isShortened = false
    }

    static let sign: [UInt8] = [0xEF, 0xBC, 0x85]
    private static let slash = UInt8(ascii: "/")
    private static let tilde = UInt8(ascii: "~")
    /// 16 digits of a 64-bit hash.
    private static let hashDigits = 16

    // MARK: From the bucket

    static func name(of segment: some Collection<UInt8>, isFolderBesideFile: Bool = false) -> EntryName {
        let bytes = Array(segment)
        var spelled = spell(bytes)
        if isFolderBesideFile { spelled += escape(slash) }
        guard spelled.count > EntryName.longest else { return EntryName(spelled) }
        let ending = (isFolderBesideFile ? escape(slash) : []) + sign + [tilde] + digits(ofHash: bytes)
        return EntryName(beginning(of: spelled, atMost: EntryName.longest - ending.count) + ending)
    }

    private static func spell(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.isEmpty { return sign }
        if bytes.allSatisfy({ $0 == UInt8(ascii: ".") }), bytes.count <= 2 { return bytes.flatMap(escape) }
        guard bytes.contains(where: { $0 == 0 || $0 == sign[0] }) else { return bytes }
        var spelled: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0 {
                spelled += escape(0)
                index += 1
            } else if isSign(bytes, at: index), bytes.count == sign.count || isMeaning(bytes, at: index + sign.count) {
                spelled += sign.flatMap(escape)
                index += sign.count
            } else {
                spelled.append(bytes[index])
                index += 1
            }
        }
        return spelled
    }

    private static func escape(_ byte: UInt8) -> [UInt8] { sign + [digit(byte >> 4), digit(byte & 15)] }

    /// Cut where a character ends.
    private static func beginning(of bytes: [UInt8], atMost count: Int) -> ArraySlice<UInt8> {
        var end = count
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return bytes[..<end]
    }

    // MARK: From the kernel

    /// nil: no object is spelled so.
    static func segment(of name: EntryName) -> Segment? {
        let bytes = name.bytes
        guard bytes.contains(sign[0]) else { return Segment(bytes: bytes) }
        if bytes == sign { return Segment(bytes: []) }
        if isShortened(bytes) { return Segment(bytes: [], isShortened: true) }
        var segment = Segment(bytes: [])
        var index = 0
        while index < bytes.count {
            guard isSign(bytes, at: index), let byte = escapedByte(bytes, at: index + sign.count) else {
                segment.bytes.append(bytes[index])
                index += 1
                continue
            }
            segment.bytes.append(byte)
            index += sign.count + 2
        }
        if segment.bytes.last == slash {
            segment.bytes.removeLast()
            segment.isFolderBesideFile = true
        }
        // What was spelled another way than ours would be a second name of the same object.
        let canonical = Self.name(of: segment.bytes, isFolderBesideFile: segment.isFolderBesideFile)
        return canonical == name ? segment : nil
    }

    private static func isShortened(_ bytes: [UInt8]) -> Bool {
        let start = bytes.count - hashDigits - 1 - sign.count
        return start >= 0 && isSign(bytes, at: start) && bytes[start + sign.count] == tilde
            && bytes.suffix(hashDigits).allSatisfy { value(of: $0) != nil }
    }

    // MARK: Signs and digits

    private static func isSign(_ bytes: [UInt8], at index: Int) -> Bool {
        index + sign.count <= bytes.count && bytes[index] == sign[0] && bytes[index + 1] == sign[1]
            && bytes[index + 2] == sign[2]
    }

    private static func isMeaning(_ bytes: [UInt8], at index: Int) -> Bool {
        escapedByte(bytes, at: index) != nil || (index < bytes.count && bytes[index] == tilde)
    }

    private static func escapedByte(_ bytes: [UInt8], at index: Int) -> UInt8? {
        guard index + 1 < bytes.count, let high = value(of: bytes[index]), let low = value(of: bytes[index + 1]) else {
            return nil
        }
        return high << 4 | low
    }

    private static func digits(ofHash bytes: [UInt8]) -> [UInt8] {
        let hash = FileNumber.make(from: bytes, attempt: 0)
        return (0..<hashDigits).map { digit(UInt8(truncatingIfNeeded: hash >> (60 - 4 * UInt64($0))) & 15) }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
