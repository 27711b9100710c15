import CCurl
import Glibc

/// One request under way. `cancel` is for any thread; all else belongs to the loop's thread, which is what makes the
/// type safe to share. curl's callbacks reach it through a pointer that the loop's list of active transfers keeps good.
@safe
final class Transfer: HTTPTransfer, @unchecked Sendable {
    /// Invariant: moves forward only, so that the handler hears of one end.
    enum Stage {
        case waiting
        /// Cancelled while it waited.
        case refused
        /// `index`: its place in the loop's list.
        case active(EasyHandle, index: Int)
        case completed
    }

    let request: HTTPRequest
    private let handler: any HTTPResponseHandler
    private let loop: TransferLoop
    private let deadline: ContinuousClock.Instant?

    var stage = Stage.waiting
    private var head = ResponseHeadParser()
    private var body: RequestBodyReader?
    /// The request has begun to leave: from here on a failure leaves open whether the server acted.
    private var hasBegun = false
    /// It has begun again, on another connection.
    private var hasBegunAgain = false
    /// Why a callback of ours made curl stop; it goes before curl's own words.
    private var abortion: TransportError?
    private var hasAnswer = false
    private var bytesMoved: Int64 = 0
    private var lastMove: ContinuousClock.Instant
    /// Bytes that came or went since `lastMove`.
    private var unnoticed: Int64 = 0

    init(_ request: HTTPRequest, handler: any HTTPResponseHandler, loop: TransferLoop) {
        self.request = request
        self.handler = handler
        self.loop = loop
        let now = ContinuousClock.now
        lastMove = now
        deadline = request.deadline.map { now.advanced(by: $0) }
    }

    func cancel() { loop.cancel(self) }

    func moved(to index: Int) {
        if case .active(let easy, _) = stage { stage = .active(easy, index: index) }
    }

    /// The only place that tells the handler of the end.
    func complete(_ result: Result<Void, TransportError>) {
        if case .completed = stage { preconditionFailure("a transfer completed twice") }
        stage = .completed
        handler.completed(result)
    }

    // MARK: Limits

    /// Fewer bytes within the stall limit are as good as none: a server that lets single ones trickle would keep a
    /// caller for ever.
    private static let leastMove: Int64 = 1_024

    private func moved(by count: Int64) {
        unnoticed += count
        guard unnoticed >= Self.leastMove else { return }
        unnoticed = 0
        lastMove = loop.now
        loop.lastMove = loop.now
    }

    private var stallLimit: Duration { request.stallLimit ?? loop.configuration.stallLimit }

    /// When the transfer has stalled, as far as is known. Before it has begun it connects, or waits for a connection:
    /// for that it may wait as long as any other transfer moves.
    private var stall: ContinuousClock.Instant {
        (hasBegun ? lastMove : max(lastMove, loop.lastMove)).advanced(by: stallLimit)
    }

    /// No limit passes before this moment.
    var nextExpiry: ContinuousClock.Instant { deadline.map { min($0, stall) } ?? stall }

    /// The limit that has passed at `now`, if any.
    func expiry(at now: ContinuousClock.Instant) -> TransportError? {
        if let deadline, now >= deadline {
            return TransportError(.timedOut, "\(host) took longer than the time allowed")
        }
        guard now >= stall else { return nil }
        guard hasBegun else {
            return TransportError(.notConnected, "no connection to \(host) came about in \(stallLimit)")
        }
        return TransportError(.timedOut, "next to nothing came from or went to \(host) for \(stallLimit)")
    }

    private var host: String { RequestURL.hostForPeople(request.url) }

    // MARK: curl

    /// What curl calls back with, good while the transfer is active.
    var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    /// The transfer that `easy` runs.
    static func owner(of easy: UnsafeMutableRawPointer) -> Transfer {
        var context: UnsafeMutablePointer<CChar>?
        unsafe curl_door_get_private(easy, &context)
        return unsafe from(UnsafeMutableRawPointer(context))
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> Transfer {
        guard let context = unsafe context else { preconditionFailure("curl lost a transfer") }
        return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// Sets up `easy` for this request.
    /// - Throws: when the request may not or cannot be sent as it is.
    func prepare(_ easy: EasyHandle) throws(TransportError) {
        try RequestCheck.check(request)
        easy.prepare(for: request, configuration: loop.configuration, connectLimit: connectLimit)
        body = RequestBodyReader(request.body)
        unsafe easy.callBack(context, readsBody: body != nil)
    }

    private var connectLimit: Duration { min(loop.configuration.connectLimit, stallLimit) }

    /// What the handler shall hear when curl is done with `code`.
    func outcome(_ code: CURLcode) -> Result<Void, TransportError> {
        if let abortion { return .failure(abortion) }
        guard code == CURLE_OK else {
            guard case .active(let easy, _) = stage else { preconditionFailure("an idle transfer has an outcome") }
            return .failure(TransportError(code, easy, host: host, hasBegun: hasBegun, connectLimit: connectLimit))
        }
        guard head.isComplete else {
            return .failure(TransportError(.connectionLost, "\(host) ended the connection before it answered"))
        }
        return .success(())
    }

    /// Whether a kept connection turned out to be dead while the body was on its way. Nobody has seen the whole request
    /// then, so it may go out on a new connection. (curl does this itself unless it has begun with the body.)
    func metADeadConnection(_ code: CURLcode) -> Bool {
        guard code == CURLE_SEND_ERROR, !hasAnswer, case .active(let easy, _) = stage else { return false }
        return easy.connectionCount == 0
    }

    // MARK: Callbacks

    /// The connection stands and the request leaves now.
    func begin() {
        hasBegunAgain = hasBegun
        hasBegun = true
        lastMove = loop.now
        loop.expect(nextExpiry)
    }

    /// curl counts up when bytes have left or come.
    func progress(bytes: Int64) {
        guard bytes != bytesMoved else { return }
        moved(by: max(bytes - bytesMoved, 0))
        bytesMoved = bytes
    }

    /// Returns false to stop.
    func received(headerLine line: UnsafeRawBufferPointer) -> Bool {
        moved(by: Int64(line.count))
        hasAnswer = true
        switch unsafe head.read(line) {
        case .more: return true
        case .head(var head):
            head.answersSecondTry = hasBegunAgain
            return handler.received(head: head) || abort(.cancelled, "cancelled")
        case .tooLong: return abort(.malformed, "\(host) sent a head longer than \(ResponseHeadParser.limit) bytes")
        }
    }

    /// Returns false to stop.
    func received(body bytes: UnsafeRawBufferPointer) -> Bool {
        moved(by: Int64(bytes.count))
        return unsafe handler.received(bytes: bytes) || abort(.cancelled, "cancelled")
    }

    /// Fills `buffer` with what is to be sent next; nil to stop.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        do throws(TransportError) {
            return try unsafe body?.read(into: buffer)
        } catch {
            abortion = error
            return nil
        }
    }

    /// curl sends the body again on another connection.
    func rewindBody(to offset: Int64) { body?.offset = offset }

    private func abort(_ kind: TransportError.Kind, _ message: String) -> Bool {
        abortion = TransportError(kind, message)
        return false
    }
}
