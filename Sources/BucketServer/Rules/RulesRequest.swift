/// What Security Rules are asked about: one operation on one object, or a listing.
struct RulesRequest: Sendable {
    /// `read` in a rule means `get` and `list`; `write` means `create`, `update` and `delete`.
    enum Method: String, Sendable {
        case get, list
        /// Any upload; an overwriting one too.
        case create
        /// Metadata alone changes.
        case update
        case delete
    }

    let method: Method
    /// `b`, the bucket, `o`, then the parts of the object's name between its slashes; for a listing those of the prefix
    /// without the slash at its end.
    let path: [String]
    /// `request.auth`: a map of `uid` and `token`, the claims; nil when nobody is signed in.
    let auth: RulesValue?
    /// `resource`: the attributes of the object that is there, a map; nil if there is none.
    let resource: RulesValue?
    /// `request.resource`: the attributes of the object that would be there afterwards; nil for reads and deletes.
    let proposed: RulesValue?
    /// `request.time`.
    let time: Microseconds
}

/// What Security Rules say.
enum RulesVerdict: Sendable, Equatable {
    case allow
    /// - Parameter reason: for the developer: the rule and its line, or that no rule allows it.
    case deny(reason: String)
    /// No rule allows it, but one would have to know what is `.unknown` in the request: ask again when it is known.
    case undecided
}
