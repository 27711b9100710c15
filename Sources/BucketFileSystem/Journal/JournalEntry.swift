package import ObjectStore

/// Something that was acknowledged and that the bucket does not have yet, as the journal keeps it.
package struct JournalEntry: Sendable {
    /// Names an entry in its journal; never used twice there.
    package struct ID: Hashable, Sendable, Comparable {
        package let rawValue: Int64
        package init(_ rawValue: Int64) { self.rawValue = rawValue }
        package static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
    }

    package enum State: Int64, Sendable {
        /// Of a file that was open: nobody was told that it is stored, and nobody asked for it.
        case open = 0
        /// Closed or synchronised: to be stored.
        case sealed = 1
        /// The bucket has something newer; somebody must decide.
        case conflict = 2
        /// The bucket refused it; `message` says why.
        case failed = 3
    }

    package enum Purpose: Sendable {
        case content(StagedContent)
        /// A change of metadata alone.
        case metadata(MetadataPatch)
    }

    package var id: ID
    package var object: ObjectName
    /// What the bucket had when it was changed, and must still have.
    package var base: Base
    package var state: State
    package var message: String?
    package var purpose: Purpose
    /// When the entry was made.
    package var time: Timestamp

    /// What a change is based on.
    package enum Base: Sendable, Equatable {
        /// There was no object of that name.
        case absent
        case generation(ObjectGeneration, Metageneration)
    }
}

extension JournalEntry {
    /// What people can do about one that is kept.
    /// - Parameter name: as `firemount recover` lists it.
    static func waysOut(_ name: String, _ state: State) -> String {
        // What conflicts would conflict again.
        let storing = state == .conflict ? "store \(name) --as NAME" : "retry \(name)"
        return "firemount recover \(storing), or firemount recover export \(name) FILE"
    }

    /// Nothing stores it by itself, while its mount lives.
    var isGivenUp: Bool { state == .conflict || state == .failed }
}

/// Content in a staging file.
package struct StagedContent: Sendable {
    /// The staging file's name in the journal's directory.
    package var file: String
    package var size: Int64
    /// Below it, what is not staged shows the base.
    package var baseLimit: Int64
    var extents: [StagedExtents.Extent]
    /// Of all bytes, where it was known when the entry was sealed.
    package var checksum: UInt32?
    /// Of a sealed entry: all headers, `changes` applied. Of an open one: the base's.
    package var headers: ObjectHeaders
    /// What was changed of them, for a base whose metadata somebody else has changed meanwhile.
    package var changes: MetadataPatch
}

extension JournalEntry.Base {
    init(_ record: FileRecord?) {
        self = record.map { .generation($0.objectGeneration, $0.metadata.metageneration) } ?? .absent
    }

    var precondition: Precondition {
        switch self {
        case .absent: .mustNotExist
        case .generation(let generation, let metageneration):
            Precondition(object: .mustBe(generation), metageneration: metageneration)
        }
    }

    var objectGeneration: ObjectGeneration? {
        if case .generation(let generation, _) = self { generation } else { nil }
    }
}
