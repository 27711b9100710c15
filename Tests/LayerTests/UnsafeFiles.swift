/// The files of `Sources` that may say `unsafe`: the doors to C, the buffers of the hot paths, system calls.
enum UnsafeFiles {
    static let all: Set<String> = []
}
