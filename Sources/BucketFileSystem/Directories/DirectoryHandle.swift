import Locking

/// One entry of a directory being read.
package struct DirectoryEntry: Sendable {
    package var name: EntryName
    /// nil: not known yet; whoever wants to know looks the name up.
    package var kind: FileAttributes.Kind?
    package var fileNumber: UInt64
    /// Where to go on after this entry.
    package var cookie: UInt64
    /// With attributes asked for, and not `.` or `..`.
    package var entry: Entry?
}

/// One open folder: the names it shows, in the order it shows them, so that cookies stay good while it is open.
final class DirectoryHandle: Sendable {
    let inode: InodeNumber
    let state = Lock(State())

    struct State {
        var names: [EntryName] = []
        /// Where more names come from; nil: `names` is all.
        var listing: Listing?
        var isStarted = false
    }

    init(inode: InodeNumber) { self.inode = inode }

    /// No longer interested in the rest of a listing.
    func leaveListing() {
        let listing = state.withLock { state -> Listing? in
            defer { state.listing = nil }
            return state.listing
        }
        listing?.leave()
    }
}
