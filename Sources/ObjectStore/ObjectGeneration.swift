/// Which content an object name holds. Changes with each write of content and never repeats for a name.
package struct ObjectGeneration: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(_ rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    package var description: String { String(rawValue) }
}

/// Which metadata an object generation has. Starts at 1 with each generation.
package struct Metageneration: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(_ rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    package var description: String { String(rawValue) }
}

/// What must be true at the server for a change to happen; otherwise it fails with `.preconditionFailed` (412).
package struct Precondition: Hashable, Sendable {
    package enum Object: Hashable, Sendable {
        /// `ifGenerationMatch=0`.
        case mustNotExist
        /// `ifGenerationMatch=G`.
        case mustBe(ObjectGeneration)
    }

    package var object: Object?
    /// `ifMetagenerationMatch=M`.
    package var metageneration: Metageneration?

    package init(object: Object? = nil, metageneration: Metageneration? = nil) {
        self.object = object
        self.metageneration = metageneration
    }

    package static let none = Precondition()
    package static let mustNotExist = Precondition(object: .mustNotExist)
    package static func mustBe(_ generation: ObjectGeneration) -> Precondition {
        Precondition(object: .mustBe(generation))
    }
}
