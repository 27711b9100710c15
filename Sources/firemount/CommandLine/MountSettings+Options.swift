extension MountSettings {
    /// Every option of `firemount mount`, in the order that `--help` shows.
    static let options: [Option<MountSettings>] =
        bucketOptions + cacheOptions + ownershipOptions + mountOptions + logOptions + [list]

    private static let bucketOptions: [Option<MountSettings>] = [
        Option("endpoint", sets: \.endpoint, "root of the service (Google's)"),
        Option("protocol", sets: \.storageProtocol, "firebase, gcs or auto: firebase for --user, else gcs (auto)"),
        user,
        Option("anonymous", turnsOn: \.isAnonymous, "send no credentials: public buckets and emulators"),
        Option("key-file", "FILE", sets: \.keyFile, "service account key, or saved user credentials (JSON)"),
        Option("token-file", "FILE", sets: \.tokenFile, "file with an access token, read again when it changes"),
        Option("timeout", sets: \.timeout, "longest wait for a dead network (60s)"),
    ]

    /// Not for `-o`: there the word means that users may mount (mount(8)). `-o protocol=firebase` says the same.
    private static let user = Option<MountSettings>(
        "user", placeholder: nil, isMountOption: false,
        help: "act as the user of firemount login, under the bucket's Security Rules"
    ) { (settings, _) throws(UsageError) in settings.isUser = true }

    private static let cacheOptions: [Option<MountSettings>] = [
        Option("metadata-ttl", sets: \.metadataTTL, "how old cached metadata may be (60s)"),
        Option("negative-ttl", sets: \.negativeTTL, "how long a name may be believed absent (5s)"),
        Option("cache-dir", "DIR", sets: \.cacheDirectory, "holds files being written ($XDG_CACHE_HOME/firemount)"),
        Option(
            "staging-limit", sets: \.stagingLimit, "bytes that wait for the bucket on the local disk (its free space)"),
        Option("write-back", turnsOn: \.writesBack, "close answers once the journal has the bytes; uploads follow"),
        Option("memory-limit", sets: \.memoryLimit, "all buffers together, at least 16MiB (256MiB)"),
    ]

    private static let ownershipOptions: [Option<MountSettings>] = [
        Option("read-only", turnsOn: \.isReadOnly, "refuse every change"),
        Option("uid", sets: \.owner, "owner of all files (you)"),
        Option("gid", sets: \.group, "group of all files (yours)"),
        Option("file-mode", sets: \.fileMode, "permissions of files (0644)"),
        Option("dir-mode", sets: \.directoryMode, "permissions of directories (0755)"),
        Option("umask", sets: \.umask, "permission bits to take away"),
    ]

    private static let mountOptions: [Option<MountSettings>] = [
        Option("foreground", letter: "f", turnsOn: \.isForeground, "stay in the terminal; Ctrl-C unmounts"),
        Option("allow-other", turnsOn: \.allowsOther, "other users may use the mount, as the modes allow"),
        Option("allow-root", turnsOn: \.allowsRoot, "root may use the mount"),
        Option("nonempty", turnsOn: \.allowsNonEmpty, "mount over a directory that has entries"),
    ]

    private static let logOptions: [Option<MountSettings>] = [
        Option("log-level", sets: \.logLevel, "error, warning, info, debug or trace (warning)"),
        Option("log-file", "FILE", sets: \.logFile, "append the log to FILE (stderr in the foreground, else syslog)"),
        Option("log-format", sets: \.logFormat, "text or json (text)"),
    ]

    private static let list = Option<MountSettings>(
        "options", letter: "o", placeholder: "LIST", isMountOption: false,
        help: "the options above as for mount(8), with - or _: -o ro,allow_other,metadata_ttl=2s"
    ) { (settings, text) throws(UsageError) in
        for item in MountOptionList(text).items { try settings.apply(item) }
    }
}
