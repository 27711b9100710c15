// The program that libFuzzer drives (scripts/fuzz): FIREMOUNT_FUZZING names the target.
import Glibc

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ call: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

private let target: FuzzTarget = {
    let name = unsafe getenv("FIREMOUNT_FUZZING").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else { preconditionFailure("FIREMOUNT_FUZZING=\(name) is no target") }
    return target
}()

var count = CommandLine.argc
var arguments = unsafe CommandLine.unsafeArgv
exit(
    unsafe runDriver(&count, &arguments) { bytes, size in
        unsafe target.run(Array(UnsafeRawBufferPointer(start: bytes, count: size)))
        return 0
    })
