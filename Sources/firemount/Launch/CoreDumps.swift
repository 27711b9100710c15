import Glibc

/// Keys and tokens are in this process's memory; no crash may write them to a file.
enum CoreDumps {
    static func turnOff() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // Programs that take core files through a pipe are not bound by the limit, but they get no memory (core(5)).
        guard let filter = try? Descriptor.open("/proc/self/coredump_filter", O_WRONLY) else { return }
        try? filter.write(Array("0".utf8))
    }
}
