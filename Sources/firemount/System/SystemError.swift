import Glibc

/// What the operating system said when it refused a call.
struct SystemError: Error, Equatable, CustomStringConvertible {
    let code: Int32

    /// The refusal that has just happened on this thread.
    static var last: SystemError { SystemError(code: errno) }

    /// In the system's words: `Permission denied`.
    var description: String { unsafe String(cString: strerror(code)) }
}
