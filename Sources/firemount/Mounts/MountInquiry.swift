import Glibc

/// What `firemount status` says of one mount, asked by a process of its own, which is left alone when it takes too
/// long: nobody can end who waits for a mount that hangs, and whoever asks is to go on all the same.
enum MountInquiry {
    enum Answer: Equatable {
        /// What it printed.
        case said(String, isWell: Bool)
        /// It is unmounted by now.
        case unmounted
        case hangs
        /// No process could be made.
        case unasked
    }

    /// - Parameters:
    ///   - mountPoint: canonical.
    ///   - options: of `firemount status`.
    static func ask(_ mountPoint: String, options: [String]) -> Answer {
        guard let pipe = try? Pipe(), let null = try? Descriptor.open("/dev/null", O_WRONLY),
            let child = try? ChildProcess(
                "/proc/self/exe", ["firemount", "status"] + options + ["--", mountPoint],
                variables: ProcessEnvironment.current.variables,
                descriptors: [pipe.writing.number: STDOUT_FILENO, null.number: STDERR_FILENO])
        else { return .unasked }
        let reading = pipe.closeWriting()
        var answer: [UInt8] = []
        while reading.waitUntilReadable(atMost: .seconds(3)) {
            guard let piece = try? reading.read(), !piece.isEmpty else {
                let isWell = child.exitStatus() == 0
                guard !answer.isEmpty else { return .unmounted }
                return .said(String(decoding: answer.dropLast(), as: UTF8.self), isWell: isWell)
            }
            answer += piece
        }
        child.send(SIGKILL)
        return .hangs
    }
}
