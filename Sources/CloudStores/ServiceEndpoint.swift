/// The root of a storage service: `https://storage.googleapis.com`, `http://127.0.0.1:9000`.
package struct ServiceEndpoint: Sendable, Equatable, CustomStringConvertible {
    /// Absolute, without a slash at its end.
    package let root: String

    package static let google = ServiceEndpoint(root: "https://storage.googleapis.com")
    package static let firebase = ServiceEndpoint(root: "https://firebasestorage.googleapis.com")

    package var description: String { root }

    var isEncrypted: Bool { root.hasPrefix("https://") }

    private init(root: String) { self.root = root }

    /// Why a text is no endpoint, in one line.
    package struct ParsingError: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// Reads `[http://|https://]HOST[:PORT][/PATH][/]`. Without a scheme a host with a port, or the loopback host, is
    /// spoken to over http (so emulators announce themselves: `localhost:9000`), any other over https.
    package init(parsing text: String) throws(ParsingError) {
        func refused(_ reason: String) -> ParsingError {
            ParsingError(description: "“\(text)” is no service address: \(reason)")
        }
        var scheme: String?
        var rest = Substring(text)
        if let end = text.firstRange(of: "://") {
            scheme = text[..<end.lowerBound].lowercased()
            rest = text[end.upperBound...]
        }
        while rest.last == "/" { rest.removeLast() }
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw refused("it holds a blank or a character beyond ASCII")
        }
        guard !rest.contains(where: { "?#@\\".contains($0) }) else {
            throw refused("it may hold a host, a port and a path, nothing else")
        }
        let authority = rest.prefix { $0 != "/" }
        guard let (host, port) = Self.split(authority) else { throw refused("its host or port is malformed") }
        switch scheme {
        case "http", "https": break
        case nil: scheme = port != nil && port != "443" || Self.isLoopback(host) ? "http" : "https"
        case .some: throw refused("it must begin with http:// or https://")
        }
        root = "\(scheme ?? "https")://\(rest)"
    }

    /// nil when malformed. An IPv6 host keeps its brackets.
    private static func split(_ authority: Substring) -> (host: Substring, port: Substring?)? {
        var host = authority
        var port: Substring?
        let afterBracket = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[afterBracket...].lastIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        if let port, UInt16(port) == nil || port.first == "+" { return nil }
        let isBracketed = host.first == "[" && host.last == "]" && host.count > 2
        guard !host.isEmpty, isBracketed || !host.contains(where: { ":[]".contains($0) }) else { return nil }
        return (host, port)
    }

    private static func isLoopback(_ host: Substring) -> Bool {
        host.lowercased() == "localhost" || host == "127.0.0.1" || host == "[::1]"
    }
}
