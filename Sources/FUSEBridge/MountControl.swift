import CFUSE
import Glibc

/// The caller's side of what a mount is spoken to through: extended attributes of its files (`user.storage.…`). For
/// commands, which are other processes than the one that serves the mount.
package enum MountControl {
    /// Reads `attribute` of `path`, which links are followed from.
    package static func read(_ attribute: String, of path: String) throws(Refusal) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: longestValue)
        let count = unsafe getxattr(path, attribute, &value, value.count)
        guard count >= 0 else { throw Refusal(code: Errno.last.rawValue) }
        return Array(value.prefix(count))
    }

    /// Writes `value` to `attribute` of `path`, which links are followed from.
    package static func write(_ value: [UInt8], to attribute: String, of path: String) throws(Refusal) {
        guard unsafe setxattr(path, attribute, value, value.count, 0) == 0 else {
            throw Refusal(code: Errno.last.rawValue)
        }
    }

    /// `XATTR_SIZE_MAX` (linux/limits.h).
    private static let longestValue = 65_536

    /// What the system said.
    package struct Refusal: Error, CustomStringConvertible {
        package let code: Int32

        /// In the system's words.
        package var description: String { unsafe String(cString: strerror(code)) }
    }
}
