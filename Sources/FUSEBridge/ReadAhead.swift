import CFUSE
import Glibc
import Logging

/// How far the kernel reads ahead on a mount.
enum ReadAhead {
    /// The kernel offers 128 KiB whatever INIT asks for. 1 MiB, its largest read request, made sequential reads 25 to
    /// 40 % faster, and 8 MiB was no better. Larger also costs: a page fault in a mapped file reads that much around
    /// it.
    static let kibibytes = 1_024

    /// Raises it for a mount, once INIT was answered: before, the kernel would lower it again. Only root may raise it:
    /// others keep what they have.
    static func raise(device number: dev_t, _ log: Logger) {
        let device = "\(gnu_dev_major(number)):\(gnu_dev_minor(number))"
        let setting = "/sys/class/bdi/\(device)/read_ahead_kb"
        let descriptor = unsafe open(setting, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return log(.debug, "\(setting): \(Errno.last)") }
        defer { close(descriptor) }
        var text = "\(kibibytes)"
        let written = text.withUTF8 { unsafe write(descriptor, $0.baseAddress, $0.count) }
        if written < 0 { log(.debug, "\(setting): \(Errno.last)") }
    }
}
