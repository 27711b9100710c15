extension Service {
    /// `POST /internal/reset`: empties every bucket and forgets every upload. Buckets and users stay.
    func reset() throws(APIError) -> Response {
        try sessions.removeAll()
        for bucket in index.allBuckets() {
            try change(bucket) { (change) throws(APIError) in
                change.release(try change.database.deleteContents(of: bucket))
            }
        }
        return Response(status: 200)
    }
}
