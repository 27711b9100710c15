/// What a listing asks for, in exact bytes.
struct ListQuery: Sendable {
    var prefix: [UInt8] = []
    var delimiter: [UInt8] = []
    var startOffset: [UInt8] = []
    /// Exclusive; nil for no bound.
    var endOffset: [UInt8]?
    var includesTrailingDelimiter = false
    /// Folders of a hierarchical bucket are prefixes even when no object is in them.
    var includesFolders = false
    var glob: Glob?
    /// Names that Firebase never shows, those with an empty segment, are left out.
    var omitsEmptySegments = false
    var limit = 1000
    var position: ListPosition?
}

/// Where the next page begins; a page token is one of these.
enum ListPosition: Sendable, Equatable {
    /// Behind this name.
    case afterName([UInt8])
    /// Behind everything that starts with this collapsed prefix.
    case afterPrefix([UInt8])
    /// At this collapsed prefix, whose trailing-delimiter object was told already.
    case atPrefix([UInt8])

    var token: String {
        let (kind, bytes): (UInt8, [UInt8]) =
            switch self {
            case .afterName(let name): (0, name)
            case .afterPrefix(let prefix): (1, prefix)
            case .atPrefix(let prefix): (2, prefix)
            }
        return String(decoding: base64([kind] + bytes), as: UTF8.self)
    }

    init(token: String) throws(APIError) {
        guard let bytes = base64Decoded(token), let kind = bytes.first, kind <= 2 else {
            throw .invalidParameter("pageToken", token)
        }
        let rest = Array(bytes.dropFirst())
        self =
            switch kind {
            case 0: .afterName(rest)
            case 1: .afterPrefix(rest)
            default: .atPrefix(rest)
            }
    }
}

struct ListPage: Sendable {
    var items: [ObjectRecord] = []
    var prefixes: [[UInt8]] = []
    var next: ListPosition?
}

/// The least byte string above everything that starts with `prefix`; nil if there is none.
func successor(of prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 < 0xFF }) else { return nil }
    var bound = Array(prefix[...last])
    bound[last] += 1
    return bound
}
