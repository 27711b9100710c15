import Foundation

/// The `openssl` command: makes keys and judges signatures independently of the code under test.
enum OpenSSL {
    struct Failure: Error { let arguments: [String] }

    /// An RSA key made once for all tests: (private PKCS#8 PEM, public PEM).
    static let rsaKey: (private: String, public: String) = {
        let key = try! run(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])
        return (key, try! run(["pkey", "-pubout"], input: key))
    }()

    static func ellipticKey() throws -> String {
        try run(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
    }

    static func traditional(_ key: String) throws -> String { try run(["rsa", "-traditional"], input: key) }

    static func encrypted(_ key: String) throws -> String {
        try run(["pkcs8", "-topk8", "-passout", "pass:secret"], input: key)
    }

    /// Whether `signature` is an RS256 signature of `message` by the owner of `publicKey`.
    static func verifies(_ signature: Data, of message: String, by publicKey: String, in folder: String) throws -> Bool
    {
        let keyPath = folder + "/public.pem"
        let signaturePath = folder + "/signature"
        try publicKey.write(toFile: keyPath, atomically: true, encoding: .utf8)
        try signature.write(to: URL(filePath: signaturePath))
        let arguments = ["dgst", "-sha256", "-verify", keyPath, "-signature", signaturePath]
        return (try? run(arguments, input: message)) != nil
    }

    @discardableResult
    private static func run(_ arguments: [String], input: String = "") throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        process.standardError = FileHandle.nullDevice
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let output = standardOutput.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(arguments: arguments) }
        return String(decoding: output, as: UTF8.self)
    }
}
