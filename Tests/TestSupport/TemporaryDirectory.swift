import FoundationEssentials
import Glibc

/// A directory of a test's own, removed with everything in it when the last reference goes.
package final class TemporaryDirectory: Sendable {
    package let path: String

    fileprivate init(path: String) { self.path = path }

    deinit {
        // What cannot be removed stays for the system's own cleaning: a test's outcome does not depend on it.
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// Makes an empty directory under `TMPDIR` (else `/tmp`), mode 0700.
package func temporaryDirectory() -> TemporaryDirectory {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/firemount-test.XXXXXX".utf8CString)
    let path = unsafe template.withUnsafeMutableBufferPointer { buffer in
        unsafe mkdtemp(buffer.baseAddress!).map { unsafe String(cString: $0) }
    }
    guard let path else { preconditionFailure("mkdtemp in \(parent): errno \(errno)") }
    return TemporaryDirectory(path: path)
}
