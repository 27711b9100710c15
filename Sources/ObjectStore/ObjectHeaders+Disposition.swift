extension ObjectHeaders {
    /// Whether the disposition is one that a Firebase server made of the object's name when nobody named another
    /// (PROTOCOL.md, 1.4): no wish of anybody's.
    package func hasMadeDisposition(for name: ObjectName) -> Bool {
        contentDisposition == "inline" || dispositionSpells(name)
    }

    package func dispositionSpells(_ name: ObjectName) -> Bool {
        let beginning = "inline; filename*=utf-8''"
        guard let contentDisposition, contentDisposition.hasPrefix(beginning) else { return false }
        let segment = name.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? []
        return Self.percentDecoded(contentDisposition.utf8.dropFirst(beginning.utf8.count)) == Array(segment)
    }

    /// A percent sign without two digits stands for itself.
    private static func percentDecoded(_ text: Substring.UTF8View) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let value = UInt8(String(digits) ?? "", radix: 16) {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }
}
