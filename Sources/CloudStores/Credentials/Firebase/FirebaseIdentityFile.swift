import FoundationEssentials
import Glibc

/// Where the signed-in user is kept: one JSON file that its owner alone may read. Changed in one step, so that a reader
/// finds the old user or the new one.
package struct FirebaseIdentityFile: Sendable, Equatable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// nil: nobody is signed in.
    /// - Throws: when there is a file and it cannot be used.
    package func read() throws(CredentialError) -> FirebaseIdentity? {
        guard FileStamp(path) != nil else { return nil }
        let bytes = try CredentialFile.read(path)
        guard let identity = try? JSONDecoder().decode(FirebaseIdentity.self, from: Data(bytes)) else {
            throw CredentialError("\(path): holds no sign-in that can be read; sign in again with firemount login")
        }
        return identity
    }

    /// The directory must exist.
    package func write(_ identity: FirebaseIdentity) throws(CredentialError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(identity) else { throw failure("the sign-in has no JSON form") }
        let draft = "\(path).\(getpid()).new"
        // Made for us alone from its first moment on, and never through a link that somebody put there.
        unsafe unlink(draft)
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("cannot be written: \(Self.reason)") }
        let isWritten = Self.write(Array(json), to: file) && fsync(file) == 0
        let reason = Self.reason
        close(file)
        guard isWritten, unsafe rename(draft, path) == 0 else {
            let cause = isWritten ? Self.reason : reason
            unsafe unlink(draft)
            throw failure("cannot be written: \(cause)")
        }
    }

    /// Replaces what is kept of `identity`'s user; another user who signed in meanwhile stays.
    func update(_ identity: FirebaseIdentity) throws(CredentialError) {
        guard let kept = try read(), kept.uid == identity.uid, kept.apiKey == identity.apiKey else { return }
        try write(identity)
    }

    /// Nobody is signed in any more. False: nobody was.
    package func remove() throws(CredentialError) -> Bool {
        guard unsafe unlink(path) != 0 else { return true }
        guard errno == ENOENT else { throw failure("cannot be removed: \(Self.reason)") }
        return false
    }

    private func failure(_ problem: String) -> CredentialError { CredentialError("\(path): \(problem)") }

    private static var reason: String { unsafe String(cString: strerror(errno)) }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(file, buffer.baseAddress! + done, bytes.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}
