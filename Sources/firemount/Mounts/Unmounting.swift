import Glibc

/// Taking a mount away.
enum Unmounting {
    enum Failure: Error, CustomStringConvertible {
        case refused(SystemError)
        /// What `fusermount3` wrote.
        case helper(String)

        var description: String {
            switch self {
            case .refused(let error): "\(error)"
            case .helper(let text): text
            }
        }
    }

    /// - Parameters:
    ///   - path: canonical.
    ///   - lazily: out of sight at once, also while someone uses it.
    static func detach(_ path: String, lazily: Bool) throws(Failure) {
        if geteuid() == 0 {
            let flags = Int32(UMOUNT_NOFOLLOW) | (lazily ? Int32(MNT_DETACH) : 0)
            guard unsafe umount2(path, flags) == 0 else { throw .refused(.last) }
            return
        }
        do {
            let words = ["fusermount3", "-u"] + (lazily ? ["-z"] : []) + ["--", path]
            let (status, errors) = try ChildProcess.run(words)
            guard status == 0 else { throw Failure.helper(errors) }
        } catch let error as SystemError {
            throw .helper("fusermount3 cannot be run: \(error); install the package fuse3")
        } catch let error as Failure {
            throw error
        } catch {
            preconditionFailure("no other error is thrown: \(error)")
        }
    }
}
