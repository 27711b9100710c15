/// Upcalls that make the kernel forget. The bridge's conformer queues them for a thread of its own, so they may be
/// called from anywhere, also under a file operation; the other conformer records them for tests.
package protocol KernelCache: Sendable {
    /// Attributes and cached pages of `inode`.
    func invalidate(_ inode: InodeNumber)
    /// The entry `name` in directory `parent`.
    func invalidate(_ name: EntryName, in parent: InodeNumber)
}
