/// Upcalls that make the kernel forget. The bridge's conformer queues them for a thread of its own, so they may be
/// called from anywhere, also under a file operation; the other conformer records them for tests.
package protocol KernelCache: Sendable {
    /// Attributes and cached pages of `inode`.
    func invalidate(_ inode: InodeNumber)
    /// The entry `name` in directory `parent`.
    func invalidate(_ name: EntryName, in parent: InodeNumber)
    /// Returns once the kernel was told all of what was asked for before. Never call it from an operation under which
    /// the kernel locks a folder or a file: the kernel needs those locks to forget.
    func settle() async
}
