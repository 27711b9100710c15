import Locking

/// Everything a request can touch. Any thread may call it.
final class Service: Sendable {
    let directoryLock: DirectoryLock
    let index: ObjectIndex
    let files: ContentFiles
    let sessions: UploadSessions
    let tokens: AcceptedTokens
    let rules: SecurityRules
    let accounts: Accounts
    let issuer: TokenIssuer
    let blocksExecutables: Bool
    let faults = Faults()
    let requests = RequestLog()
    let operations = Operations()
    let parkedConnections = ParkedConnections()
    /// Where connections come from, once they do.
    let listener = Lock<ListeningSocket?>(nil)
    let maxBytesRewrittenPerCall: Int64

    init(_ configuration: LocalServer.Configuration) throws(ServerError) {
        let directory = configuration.dataDirectory
        try makeDirectory(directory)
        directoryLock = try DirectoryLock(directory)
        do {
            index = try ObjectIndex(path: directory + "/index.sqlite")
            files = try ContentFiles(
                directory: directory + "/content", after: try index.highestContent(),
                computesMD5: configuration.computesMD5)
            sessions = try UploadSessions(index: index, files: files)
        } catch let error as APIError {
            throw ServerError("cannot use the data directory \(directory): \(error.message)")
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError("cannot use the data directory \(directory): \(error)")
        }
        accounts = Accounts(index: index)
        issuer = TokenIssuer(
            project: configuration.project, lifetime: configuration.tokenLifetime.wholeSeconds)
        rules = try SecurityRules(path: configuration.rulesFile, log: configuration.log)
        blocksExecutables = configuration.blocksExecutables
        tokens = AcceptedTokens(configured: configuration.acceptedToken)
        maxBytesRewrittenPerCall = configuration.maxBytesRewrittenPerCall
        try makeBuckets(configuration.buckets, isHierarchical: false)
        try makeBuckets(configuration.hierarchicalBuckets, isHierarchical: true)
    }

    /// Makes staged bytes an object, if the preconditions hold now.
    func commit(
        _ staged: StagedContent, as plan: UploadPlan, in bucket: BucketRecord,
        alsoIn transaction: (ObjectTransaction, ObjectRecord) throws(APIError) -> Void = { _, _ in }
    ) throws(APIError) -> ObjectRecord {
        let checksums = staged.checksumsSoFar()
        try plan.expected.check(checksums)
        let size = staged.size
        let content = NewContent(id: try files.publish(staged), size: size, checksums: checksums)
        return try change(bucket, adding: content.id) { (change) throws(APIError) in
            let object = try change.store(content, as: plan.name, attributes: plan.attributes, if: plan.preconditions)
            try transaction(change, object)
            return object
        }
    }

    /// Changes a bucket's objects and then removes the files that nobody needs any more.
    /// - Parameter content: a file made for this change; it goes if the change fails.
    func change<Result>(
        _ bucket: BucketRecord, adding content: ContentID? = nil,
        _ body: (ObjectTransaction) throws(APIError) -> Result
    ) throws(APIError) -> Result {
        do {
            let (result, released) = try index.change(bucket, body)
            for id in released { files.remove(id) }
            return result
        } catch {
            files.remove(content)
            throw error
        }
    }

    private func makeBuckets(_ names: [String], isHierarchical: Bool) throws(ServerError) {
        let known = Set(index.allBuckets().map(\.name))
        for name in names where !known.contains(name) {
            do {
                try validateBucketName(name)
                _ = try index.addBucket(name, project: "local", isHierarchical: isHierarchical)
            } catch {
                throw ServerError("cannot make the bucket \(name): \(error.message)")
            }
        }
    }
}

extension Duration {
    fileprivate var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
