/// A Firebase project's id.
struct FirebaseProject: OptionValue, Equatable {
    let text: String

    static let placeholder = "ID"
    static let forms = "a project's id: lower-case letters, digits and hyphens, such as demo-app"

    init?(spelling: String) {
        let isPlain = spelling.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
        guard isPlain, !spelling.isEmpty else { return nil }
        text = spelling
    }
}
