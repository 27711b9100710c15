import Glibc

/// The program that scripts/fuzz builds: libFuzzer, with the target that FIREMOUNT_FUZZING names.
@main enum FuzzProgram {
    static func main() {
        var count = CommandLine.argc
        var arguments = unsafe CommandLine.unsafeArgv
        exit(unsafe runDriver(&count, &arguments) { bytes, size in unsafe FuzzProgram.take(bytes, size) })
    }

    private static let target: FuzzTarget = {
        let name = unsafe getenv("FIREMOUNT_FUZZING").map { unsafe String(cString: $0) } ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            preconditionFailure("FIREMOUNT_FUZZING=\(name) names no target")
        }
        return target
    }()

    /// 0: an input worth keeping if it reaches something new (libFuzzer's convention).
    private static func take(_ bytes: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
        unsafe target.run(Array(UnsafeRawBufferPointer(start: bytes, count: size)))
        return 0
    }
}

/// libFuzzer's main loop (`LLVMFuzzerRunDriver`, https://llvm.org/docs/LibFuzzer.html), which no header declares.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ call: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
