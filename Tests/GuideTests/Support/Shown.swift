import Foundation
import Locking

/// The images that snippets have made.
final class Shown: Sendable {
    private let images = Lock<[Data]>([])

    func add(_ image: Data) { images.withLock { $0.append(image) } }

    func contains(_ image: Data) -> Bool { images.withLock { $0.contains(image) } }
}
