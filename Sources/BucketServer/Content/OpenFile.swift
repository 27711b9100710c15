import Glibc

/// A file open for reading; closed when its last owner lets go. Its bytes never change, so any thread may read it.
final class OpenFile: Sendable {
    let descriptor: Int32

    /// Nil when there is no such file.
    init?(path: String) {
        let descriptor = unsafe path.withCString { unsafe open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        max(0, unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
    }

    /// `count` bytes at `offset`; fewer only where the file ends.
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let rest = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let got = unsafe read(into: rest, at: offset + Int64(filled))
                if got == 0 { break }
                filled += got
            }
        }
    }
}
