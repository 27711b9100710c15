package import ObjectStore

/// How a mount behaves: what the command made of its options.
package struct Configuration: Sendable {
    /// Only names below this prefix are shown: empty, or ends in `/`.
    package var prefix = ObjectName("")
    /// How old cached metadata may be.
    package var metadataTTL = Duration.seconds(60)
    /// How long a name may be believed absent.
    package var negativeTTL = Duration.seconds(5)
    /// All read buffers together, in bytes: a hard bound.
    package var memoryLimit: Int64 = 256 << 20
    /// Whoever makes a file that must not exist (`O_EXCL`) relies on its absence: an answer older than this is asked
    /// for again, except in folders that this mount has made within `metadataTTL`.
    package var exclusiveTTL = Duration.seconds(1)
    /// How long a change of metadata may wait for others of the same file, or for an upload or rename that takes it
    /// along, before it is sent by itself.
    package var metadataDelay = Duration.seconds(1)
    /// It waits only if this mount has written to the object so lately: then the bucket will hardly refuse it.
    package var recentWrite = Duration.seconds(5)
    /// How long what was set on a file that was renamed away waits for one that is put in its place. Editors do that at
    /// once; who gives the name to something else will mostly take longer (docs/decisions/0045).
    package var succession = Duration.seconds(15)
    /// From this size on, bytes that were added at an object's end are stored by themselves and joined to it there. The
    /// three requests that takes cost less than to send so much again.
    package var appendLimit: Int64 = 4 << 20
    /// A file of this size or more is only asked about when it is opened: it may be opened to be copied by the bucket,
    /// and to read it takes so long that one more answer does not count.
    package var largestPrefetch: Int64 = 256 << 20
    /// Of a file that is removed or replaced while somebody reads it, at most so many bytes are fetched for the reader;
    /// a larger one stays in the bucket under another name until it is closed.
    package var largestFetchForHolders: Int64 = 16 << 20
    /// All bytes staged on the local disk together; nil: as many as it takes.
    package var stagingLimit: Int64?
    /// `close` answers once the journal has the bytes; uploads follow.
    package var writesBack = false
    package var isReadOnly = false
    package var owner: UInt32 = 0
    package var group: UInt32 = 0
    package var filePermissions: UInt16 = 0o644
    package var directoryPermissions: UInt16 = 0o755
    /// Names in a list page; the service's maximum.
    package var listPageSize = 1_000
    /// A file that is written from its start on begins to leave at this size, before it is closed; nil: never.
    package var streamThreshold: Int64? = 16 << 20
    /// Fewer bytes are not worth a request of such an upload: 8 MiB (PROTOCOL: resumable, chunk size).
    package var streamPiece: Int64 = 8 << 20
    /// No further upload begins before its file is closed while so many are under way.
    package var streamLimit = 16

    package init() {}
}
