/// How a bucket is put into the tree.
package struct MountOptions: Sendable {
    package var mountPoint: String
    /// What `mount` and `df` show as the source: `gs://bucket`.
    package var source: String
    package var isReadOnly: Bool
    /// Other users may use the mount (`allow_other`); then the kernel checks modes (`default_permissions`).
    package var allowsOther: Bool
    /// root may use another user's mount (`allow_root`).
    package var allowsRoot: Bool
    /// Handed to the kernel as they are: `noatime`, `nosuid`, `default_permissions` …
    package var kernelOptions: [String]
    /// Threads that decode requests. They do not wait for the network, so more gain nothing.
    package var maxThreads: Int

    package init(
        mountPoint: String, source: String, isReadOnly: Bool = false, allowsOther: Bool = false,
        allowsRoot: Bool = false, kernelOptions: [String] = [], maxThreads: Int = 10
    ) {
        self.mountPoint = mountPoint
        self.source = source
        self.isReadOnly = isReadOnly
        self.allowsOther = allowsOther
        self.allowsRoot = allowsRoot
        self.kernelOptions = kernelOptions
        self.maxThreads = maxThreads
    }

    /// As `fuse_session_new` takes them: a program name, then `-o` and an option in turn.
    var sessionArguments: [String] {
        var options = ["fsname=" + MountOptions.escape(source), "subtype=firemount"]
        if isReadOnly { options.append("ro") }
        if allowsOther { options.append("allow_other") }
        if allowsRoot { options.append("allow_root") }
        let sharesWithOthers = allowsOther || allowsRoot
        if sharesWithOthers, !kernelOptions.contains("default_permissions") { options.append("default_permissions") }
        options += kernelOptions
        return ["firemount"] + options.flatMap { ["-o", $0] }
    }

    /// A comma would end the option, a backslash would hide one (fuse_opt.h).
    private static func escape(_ value: String) -> String {
        var escaped = ""
        for character in value {
            if character == "," || character == "\\" { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }
}
