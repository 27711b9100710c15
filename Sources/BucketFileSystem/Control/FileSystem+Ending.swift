package import ObjectStore

/// What a mount that ends still has to store.
extension FileSystem {
    package struct Left: Sendable, Equatable {
        /// Files with unsaved content.
        package var names: [ObjectName] = []
        /// How much of them has not left yet.
        package var bytes: Int64 = 0

        package var isNothing: Bool { names.isEmpty }
    }

    package func left() -> Left {
        let unsaved = namespace.withLock { space in
            space.allNodes.compactMap { node -> (ObjectName, Int64)? in
                guard let contents = node.contents, contents.isDirty, node.link == .attached else { return nil }
                return (space.objectName(of: node), contents.localAttributes.size ?? 0)
            }
        }
        let sent = Dictionary(
            transfers.entries.map { ($0.name, $0.control.progress.sent) }, uniquingKeysWith: { max($0, $1) })
        return Left(
            names: unsaved.map(\.0).sorted(), bytes: unsaved.reduce(0) { $0 + max(0, $1.1 - (sent[$1.0] ?? 0)) })
    }
}
