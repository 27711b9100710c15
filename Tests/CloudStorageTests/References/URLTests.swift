import Foundation
import Testing

@testable import CloudStorage

/// docs/CLOUDSTORAGE.md, addresses.
struct URLTests {
    /// Accepts any bucket.
    private let storage = TestStorage(bucket: "").storage

    @Test(arguments: [
        ("gs://bucket", "bucket", ""), ("gs://bucket/", "bucket", ""), ("gs://bucket/a/b", "bucket", "a/b"),
        // Not decoded.
        ("gs://bucket/?/%/#", "bucket", "?/%/#"), ("gs://bucket/a%20b", "bucket", "a%20b"),
        ("gs://b//x", "b", "x"), ("GS://b/x", "b", "x"),
        (
            "https://firebasestorage.googleapis.com/v0/b/b.appspot.com/o/a%2Fb%20c?alt=media&token=t", "b.appspot.com",
            "a/b c"
        ),
        ("https://firebasestorage.googleapis.com:443/v0/b/B/o/x#y", "B", "x"),
        ("http://127.0.0.1:9199/v0/b/B/o/%E2%82%AC%3F", "B", "€?"), ("http://any.host/v0/b/B/o/a+b", "B", "a+b"),
        ("http://h/v0/b/B/o/a/b", "B", "a/b"), ("http://h/v0/b/B/o/a%252Fb", "B", "a%2Fb"),
        ("http://h/v0/b/B", "B", ""), ("http://h/v0/b/B/o", "B", ""), ("http://h/v0/b/B/o/", "B", ""),
        ("http://h/v0/b/B/o?maxResults=2", "B", ""),
        // Extensions of this library.
        ("https://storage.googleapis.com/B/a%20b", "B", "a b"), ("https://storage.cloud.google.com/B/x/y", "B", "x/y"),
        ("https://storage.googleapis.com/B", "B", ""),
        ("https://firebasestorage.googleapis.com/b/bucket/o/images%20stars.jpg", "bucket", "images stars.jpg"),
    ])
    func addressesOfObjectsMakeReferences(url: String, bucket: String, path: String) throws {
        let reference = storage.reference(forURL: url)
        #expect(reference.bucket == bucket)
        #expect(reference.fullPath == path)
    }

    @Test(arguments: [
        "gs://", "gs:///", "gs:///x", "http://h/v0/b/B/x/OBJ", "http://h/v1/b/B/o/OBJ", "http://h", "http://h/",
        "http://h/v0",
        "http://h/v0/b", "http://h/v0/b/", "http://h/v0/b//o/x", "http://h/v0/b/B/o/%zz", "http://h/v0/b/B/o/%4",
        "http://h/v0/b/B/o/%FF", "https://storage.googleapis.com/", "ftp://h/v0/b/B/o/x", "bucket", "", "://b/x",
        "/b/o",
    ])
    func otherAddressesAreRefused(url: String) {
        let error = #expect(throws: StorageError.self) { try StoragePath(url: url) }
        #expect(error?.code == .pathError)
    }

    @Test func anUnknownSchemeIsNamedInTheMessage() throws {
        let error = #expect(throws: StorageError.self) {
            try storage.reference(for: #require(URL(string: "ftp://h/v0/b/B/o/x")))
        }
        #expect(
            error?.localizedDescription
                == "Internal error: URL scheme must be one of gs://, http://, or https://")
    }

    @Test(arguments: ["gs://other/x", "https://h/v0/b/other/o/x"])
    func aForeignBucketIsAMismatch(url: String) throws {
        let own = TestStorage().storage
        let error = #expect(throws: StorageError.self) { try own.reference(for: #require(URL(string: url))) }
        #expect(error?.code == .bucketMismatch)
        #expect(
            error?.localizedDescription
                == "Provided bucket: `other` does not match the Storage bucket of the current instance: "
                + "`\(TestStorage.bucket)`"
        )
    }

    @Test func aReferenceComesBackFromItsOwnAddress() throws {
        let own = TestStorage().storage
        let reference = own.reference(withPath: "a b/ä?#%")
        #expect(own.reference(forURL: reference.description) == reference)
    }
}
