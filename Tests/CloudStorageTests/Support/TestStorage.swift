import Foundation
import ObjectStore
import TestSupport

@testable import CloudStorage

/// A `Storage` of an app of its own, over a store in memory.
struct TestStorage {
    static let bucket = "demo.appspot.com"

    let storage: Storage

    init(_ store: any ObjectStore = InMemoryStore(), bucket: String = TestStorage.bucket) {
        storage = Storage(app: testApp(bucket: bucket), bucket: bucket) { _, _ in store }
    }

    func reference(_ path: String) -> StorageReference { storage.reference(withPath: path) }
}

/// A new app under a name of its own.
func testApp(bucket: String?) -> FirebaseApp {
    let options = FirebaseOptions(googleAppID: "1:2:linux:3", gcmSenderID: "4")
    options.storageBucket = bucket
    let name = UUID().uuidString
    FirebaseApp.configure(name: name, options: options)
    return FirebaseApp.app(name: name)!
}
