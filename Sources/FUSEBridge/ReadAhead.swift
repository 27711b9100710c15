import CFUSE
import Glibc
import Logging

/// How far the kernel reads ahead on a mount.
enum ReadAhead {
    /// The kernel offers 128 KiB whatever INIT asks for; 1 MiB, its largest read request, made sequential reads 25 to 40 %
    /// faster, and 8 MiB was no better. Larger also costs: a page fault in a mapped file reads that much around it.
    static let kibibytes = 1_024

    /// Raises it for the mount at `path`. Asks the mount for its attributes, so it returns when the mount has answered
    /// once; never call it from a thread that serves requests. Only root may raise it: others keep what they have.
    static func raise(at path: String, _ log: Logger) {
        var attributes = stat()
        guard unsafe stat(path, &attributes) == 0 else {
            return log(.warning, "\(path): the root of the mount does not answer: \(Errno.last)")
        }
        let device = "\(gnu_dev_major(attributes.st_dev)):\(gnu_dev_minor(attributes.st_dev))"
        let setting = "/sys/class/bdi/\(device)/read_ahead_kb"
        let descriptor = unsafe open(setting, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return log(.debug, "\(setting): \(Errno.last)") }
        defer { close(descriptor) }
        var text = "\(kibibytes)"
        let written = text.withUTF8 { unsafe write(descriptor, $0.baseAddress, $0.count) }
        if written < 0 { log(.debug, "\(setting): \(Errno.last)") }
    }
}
