package import ObjectStore

/// A store of a bucket at a service, whatever protocol is spoken.
package protocol BucketStore: ObjectStore {
    /// Asks for as little as tells whether the bucket is there and lets us in.
    /// - Parameter prefix: where lists are asked for.
    /// - Throws: `.notFound` when there is no such bucket, `.forbidden`, `.unauthenticated`, or why nobody could be
    ///   asked.
    func checkBucket(listing prefix: ObjectName) async throws(StorageError)
}
