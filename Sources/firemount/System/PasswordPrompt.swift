import Glibc

/// Reads one line that must not be seen: from the terminal without echo, or from standard input if that is none.
enum PasswordPrompt {
    /// nil: the input ended before a line.
    static func read(_ prompt: String) throws(SystemError) -> String? {
        guard isatty(STDIN_FILENO) == 1 else { return try line() }
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { throw .last }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            // The line's end was not echoed either.
            try? writeAll(Array("\n".utf8), to: STDERR_FILENO)
        }
        try? writeAll(Array(prompt.utf8), to: STDERR_FILENO)
        return try line()
    }

    /// Byte by byte, so that what follows stays for others.
    private static func line() throws(SystemError) -> String? {
        var bytes: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            if count == 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
