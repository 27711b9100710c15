import HTTPTransport
import ObjectStore

/// How a protocol words the dialogue of a resumable upload. The conformers are the stores; `ResumableUpload` leads the
/// dialogue.
protocol UploadDialect: Sendable {
    var caller: ServiceCaller { get }
    var endpoint: ServiceEndpoint { get }

    /// Opens a session, under `precondition` where the protocol can say it. Nothing is stored by that.
    func opening(_ upload: Upload, _ precondition: Precondition) -> Call
    /// What an answer to `opening` opened; nil: it names no session.
    func session(_ answer: HTTPAnswer) -> UploadSession?
    /// Carries bytes; after the last ones the object is complete.
    func sending(_ range: Range<Int64>, isLast: Bool, of upload: Upload, to session: UploadSession) -> HTTPRequest
    /// Asks how much has arrived.
    func asking(about upload: Upload, in session: UploadSession) -> HTTPRequest
    /// Says that nothing more will come.
    func discarding(_ session: UploadSession) -> HTTPRequest
    /// - Parameter range: which bytes were sent; nil: the answer is to `asking`.
    func reply(in answer: HTTPAnswer, to range: Range<Int64>?, of upload: Upload) throws(StorageError) -> UploadReply

    /// Asked before the last bytes are sent: whether the upload may become an object still.
    func checkBeforeEnd(_ upload: Upload, _ precondition: Precondition) async throws(StorageError)
    func delete(_ name: ObjectName, if precondition: Precondition) async throws(StorageError)
    func metadata(of name: ObjectName) async throws(StorageError) -> ObjectMetadata
    /// After an upload failed though it may have been stored: what the bucket has, if it is ours.
    /// - Throws: `failure`, unless it is.
    func ownSuccess(_ upload: Upload, _ failure: StorageError) async throws(StorageError) -> ObjectMetadata
}

/// A place at the server where an upload is gathered.
struct UploadSession: Sendable {
    /// A secret: whoever has it may send. No credentials go there.
    let address: String
    /// All requests but the last carry a whole number of so many bytes.
    var granularity = UploadTransfer.granularity
    /// It began with these; the source may have ended with others.
    var headers = ObjectHeaders()
}

/// What an answer in a session says.
enum UploadReply: Sendable {
    /// The server holds the bytes before this offset.
    case stored(upTo: Int64)
    /// nil: without saying what the object is.
    case complete(ObjectMetadata?)
    /// The server knows nothing of the session.
    case lost
    /// The request did not fit to what the server has; it says what that is when asked.
    case outOfStep(ErrorAnswer)
    case refused(ErrorAnswer)
}
