/// What `--help` prints: made from the tables of options, so it cannot say anything else than the parser does.
enum HelpText {
    static func text(for verb: Verb?) -> String {
        switch verb {
        case nil: overview
        case .mount: page(.mount, about: mountText, options: MountSettings.options)
        case .unmount: page(.unmount, about: unmountText, options: [Option<Void>]())
        case .status: page(.status, about: statusText, options: StatusRequest.options)
        case .pause: page(.pause, about: pauseText, options: [Option<Void>]())
        case .resume: page(.resume, about: resumeText, options: [Option<Void>]())
        case .cancel: page(.cancel, about: cancelText, options: [Option<Void>]())
        case .refresh: page(.refresh, about: refreshText, options: [Option<Void>]())
        case .recover: page(.recover, about: recoverText, options: RecoverSettings.options)
        case .serve: page(.serve, about: serveText, options: ServeSettings.options)
        case .demo: page(.demo, about: demoText, options: DemoRequest.options)
        case .login: page(.login, about: loginText, options: LoginRequest.options)
        case .logout: page(.logout, about: logoutText, options: [Option<Void>]())
        case .whoami: page(.whoami, about: whoamiText, options: [Option<Void>]())
        }
    }

    private static let overview = """
        Firemount mounts a Cloud Storage bucket, of Google Cloud or of Firebase, as a directory.

          firemount demo [MOUNTPOINT]                             try it: local server and mount, no account needed
          firemount [mount] gs://BUCKET[/PREFIX] MOUNTPOINT       mount a bucket
          firemount unmount MOUNTPOINT                            unmount it; waits for uploads
          firemount status [MOUNTPOINT]                           mounts, uploads under way, and what is not stored
          firemount pause MOUNTPOINT [ID]                         lets uploads rest; so go resume and cancel
          firemount refresh PATH                                  forget what is cached of a file or a folder tree
          firemount recover                                       what never reached the bucket: list, retry, export
          firemount login | logout | whoami                       the Firebase user that mounts with --user act as
          firemount serve                                         a local bucket server, for development and tests
          firemount help COMMAND                                  the options of a command
          firemount --version
        """

    private static let mountText = """
        Mounts a bucket, or the part of it below PREFIX, as the directory MOUNTPOINT. BUCKET and BUCKET:PREFIX are
        understood too. Answers once the mount does: exit 0 then, and 1 if it cannot be.

        Credentials, unless an option names them: $GOOGLE_APPLICATION_CREDENTIALS, gcloud's application default
        credentials, the metadata server. $STORAGE_EMULATOR_HOST names an emulator, which is spoken to anonymously.

        With --user the mount acts as the user of firemount login, and the bucket's Security Rules decide what it may
        do; names are listed, and the rest is asked for name by name. Mount the folder that the rules let the user
        into: gs://BUCKET/users/UID. $FIREBASE_STORAGE_EMULATOR_HOST and $FIREBASE_AUTH_EMULATOR_HOST name emulators.

        Durations are written 500ms, 2s, 5m or 1h; sizes 64MiB, 512K or 1GB; modes in octal.
        """

    private static let unmountText = """
        Unmounts a bucket and waits until what was written there is stored. Exit 1 if the directory is in use, or if
        something could not be stored.
        """

    private static let refreshText = """
        Has the mount forget what is cached of a file, or of a folder and everything below it, in the kernel too: what
        another client has changed shows at once. What is not stored yet stays, and open files go on with their version.
        """

    private static let statusText = """
        Shows the mounts of this user, or the one at MOUNTPOINT: uploads under way, each by its number, and what was
        written and is not in the bucket. Exit 1 if something of that needs help, or a mount does not answer.
        """

    private static let pauseText = """
        Lets the upload of that number rest, or all of them and those to come. Whoever closes such a file waits.
        """

    private static let resumeText = """
        Goes on with the upload of that number, or with all of them.
        """

    private static let cancelText = """
        Gives up the upload of that number, or all that are under way. Whoever closes such a file is told so; its bytes
        stay, and are stored when it is closed again.
        """

    private static let loginText = """
        Signs a user of Firebase in and keeps the sign-in, readable for you alone, in $XDG_CONFIG_HOME/firemount (or
        ~/.config/firemount). Mounts with --user act as that user. The password is never an argument.
        $FIREBASE_AUTH_EMULATOR_HOST names an emulator, which takes any key.
        """

    private static let logoutText = """
        Forgets the sign-in. Mounts that are there go on as long as their last token lasts.
        """

    private static let whoamiText = """
        Says who is signed in. Exit 1 if nobody is.
        """

    private static let recoverText = """
        Lists what was written and never reached the bucket: files that were open when their mount ended, uploads that
        wait for the network, conflicts with newer versions, and what the bucket refused. export writes one to a local
        file, or with --written-only what was written here, where the version that the rest comes from is gone; retry
        stores it where the bucket has still what it was based on; store stores it under a name that no
        object has; discard gives it up.

        Without --cache-dir it looks where mounts of this user keep files by default, and where those that live say they
        do.
        """

    private static let serveText = """
        Serves buckets that are kept in a local directory, by the protocols of Google Cloud Storage and of Firebase,
        with Firebase's sign-in. For development and tests only: what --rules do not forbid, everyone who can reach it
        may do. Ctrl-C ends it.

        With --rules, Firebase requests may do what the Security Rules of FILE allow their users. A file that does not
        parse is told on standard error, and refuses every one of them until it is mended.
        """

    private static let demoText = """
        Starts a local server with a bucket in temporary files and mounts it on MOUNTPOINT (by default a new directory
        under /tmp). Ctrl-C ends both and removes everything again.
        """

    private static func page<Arguments>(_ verb: Verb, about: String, options: [Option<Arguments>]) -> String {
        let usages = options.map(\.usage) + ["-h, --help"]
        let helps = options.map(\.help) + ["show this"]
        let width = usages.map(\.count).max() ?? 0
        let lines = zip(usages, helps).map { usage, help in
            "  " + usage + String(repeating: " ", count: width - usage.count + 2) + help
        }
        return "Usage: \(verb.usage)\n\n\(about)\n\n" + lines.joined(separator: "\n")
    }
}
