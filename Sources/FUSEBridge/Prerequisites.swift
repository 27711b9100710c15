import Glibc

/// What a machine needs before a mount is tried. libfuse would refuse too, in words that do not say what to do.
enum Prerequisites {
    static func check(_ options: MountOptions) throws(MountError) {
        let device = unsafe open("/dev/fuse", O_RDWR | O_CLOEXEC)
        if device < 0 {
            throw Errno.last.meansForbidden ? .deviceForbidden : .deviceMissing
        }
        close(device)
        if options.allowsOther || options.allowsRoot, geteuid() != 0, !usersMayShare() { throw .sharingNotAllowed }
    }

    /// Whether /etc/fuse.conf has a line `user_allow_other`.
    private static func usersMayShare() -> Bool {
        guard let file = unsafe fopen("/etc/fuse.conf", "re") else { return false }
        defer { unsafe fclose(file) }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4_096) { line in
            while unsafe fgets(line.baseAddress, Int32(line.count), file) != nil {
                let words = unsafe String(cString: line.baseAddress!).split { $0 == " " || $0 == "\t" || $0 == "\n" }
                if words.first == "user_allow_other" { return true }
            }
            return false
        }
    }
}
