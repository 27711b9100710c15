import CCurl
import Glibc
import Locking
import Logging

/// The one thread's work: it owns curl's multi handle and every transfer under way.
///
/// Other threads only leave mail (`submit`, `cancel`, `stop`). All else is touched by the loop's thread alone, which is
/// what makes the type safe to share.
@safe
final class TransferLoop: @unchecked Sendable {
    private struct Mail {
        var submitted: [Transfer] = []
        var cancelled: [Transfer] = []
        var isStopping = false
        /// The loop's thread waits for the network, or is about to: who leaves mail must wake it, once.
        var isAsleep = false
    }

    let configuration: CurlTransport.Configuration
    private let log: Logger
    private let mail = Lock(Mail())
    private let multi: UnsafeMutableRawPointer

    // The loop's thread only.
    private(set) var now = ContinuousClock.now
    /// When any transfer last moved bytes.
    var lastMove = ContinuousClock.now
    private var active: [Transfer] = []
    private let idle: EasyPool
    /// No limit of an active transfer passes before.
    private var nextExpiry: ContinuousClock.Instant?
    /// When a transfer last ended because nothing moved; nil: not lately.
    private var lastSilence: ContinuousClock.Instant?

    init(configuration: CurlTransport.Configuration, log: Logger) {
        CurlLibrary.start()
        guard let multi = unsafe curl_multi_init() else { preconditionFailure("curl_multi_init: out of memory") }
        unsafe curl_door_multi_set_long(
            multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maxConnectionsPerHost)
        unsafe curl_door_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maxConnectionsPerHost)
        unsafe self.multi = multi
        self.configuration = configuration
        self.log = log
        idle = EasyPool(limit: configuration.maxConnectionsPerHost)
    }

    deinit {
        // Callers of `wake` hold the loop, so the multi handle cannot go before here.
        unsafe curl_multi_cleanup(multi)
    }

    // MARK: Any thread

    func submit(_ transfer: Transfer) {
        let isStopping = leave { mail in
            guard !mail.isStopping else { return true }
            mail.submitted.append(transfer)
            return false
        }
        if isStopping { transfer.complete(.failure(Self.shutDown)) }
    }

    func cancel(_ transfer: Transfer) {
        leave { mail in
            if !mail.isStopping { mail.cancelled.append(transfer) }
        }
    }

    func stop() {
        leave { $0.isStopping = true }
    }

    private func leave<Result>(_ change: (inout Mail) -> Result) -> Result {
        let (result, mustWake) = mail.withLock { mail in
            let result = change(&mail)
            let mustWake = mail.isAsleep
            mail.isAsleep = false
            return (result, mustWake)
        }
        if mustWake { unsafe curl_multi_wakeup(multi) }
        return result
    }

    private static let shutDown = TransportError(.cancelled, "the transport was shut down")
    private static let cancelled = TransportError(.cancelled, "cancelled")

    // MARK: The loop's thread

    /// Runs until `stop`; then every transfer has completed.
    func run() {
        var taken = Mail()
        while true {
            takeMail(into: &taken)
            now = .now
            if taken.isStopping { return endAll(notStarted: taken.submitted) }
            taken.cancelled.forEach(cancelNow)
            taken.submitted.forEach(start)
            perform()
            completeFinished()
            expire()
            sleep()
        }
    }

    /// Swaps the boxes, so that both keep their room.
    private func takeMail(into taken: inout Mail) {
        taken.submitted.removeAll(keepingCapacity: true)
        taken.cancelled.removeAll(keepingCapacity: true)
        mail.withLock { mail in
            swap(&mail.submitted, &taken.submitted)
            swap(&mail.cancelled, &taken.cancelled)
            taken.isStopping = mail.isStopping
            mail.isAsleep = false
        }
    }

    private func cancelNow(_ transfer: Transfer) {
        switch transfer.stage {
        case .waiting: transfer.stage = .refused
        case .active: finish(transfer, .failure(Self.cancelled))
        case .refused, .completed: break
        }
    }

    private func start(_ transfer: Transfer) {
        if case .refused = transfer.stage { return transfer.complete(.failure(Self.cancelled)) }
        do throws(TransportError) {
            let easy = try idle.take()
            try transfer.prepare(easy)
            distrustConnections(of: easy)
            unsafe curl_multi_add_handle(multi, easy.raw)
            transfer.stage = .active(easy, index: active.count)
            active.append(transfer)
            expect(transfer.nextExpiry)
        } catch {
            transfer.complete(.failure(error))
        }
    }

    private func perform() {
        var running: Int32 = 0
        let status = unsafe curl_multi_perform(multi, &running)
        precondition(status == CURLM_OK, "curl_multi_perform: \(status.rawValue)")
    }

    private func completeFinished() {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(multi, &left) {
            // Nothing else is ever reported; the message does not outlive the handle's removal.
            guard unsafe message.pointee.msg == CURLMSG_DONE else { continue }
            let code = unsafe message.pointee.data.result
            let transfer = unsafe Transfer.owner(of: message.pointee.easy_handle)
            if transfer.metADeadConnection(code) {
                sendAgain(transfer)
            } else {
                finish(transfer, transfer.outcome(code))
            }
        }
    }

    private func sendAgain(_ transfer: Transfer) {
        guard case .active(let easy, _) = transfer.stage else { return }
        unsafe curl_multi_remove_handle(multi, easy.raw)
        easy.set(CURLOPT_FRESH_CONNECT, 1)
        transfer.rewindBody(to: 0)
        unsafe curl_multi_add_handle(multi, easy.raw)
    }

    private func expire() {
        guard let due = nextExpiry, now >= due else { return }
        nextExpiry = nil
        for transfer in active {
            if let error = transfer.expiry(at: now) {
                // So may all the connections be that were at rest meanwhile.
                lastSilence = now
                finish(transfer, .failure(error))
            } else {
                expect(transfer.nextExpiry)
            }
        }
    }

    /// What stands unused since before some transfer stalled is not used again: it may be dead like that one's
    /// connection, and each would cost the next request its patience.
    private func distrustConnections(of easy: EasyHandle) {
        guard let lastSilence else { return }
        let age = lastSilence.duration(to: now).components.seconds
        guard age < EasyHandle.restLimit else { return self.lastSilence = nil }
        easy.set(CURLOPT_MAXAGE_CONN, Int(age))
    }

    /// Makes sure that the loop looks again when a limit may have passed.
    func expect(_ expiry: ContinuousClock.Instant) {
        nextExpiry = nextExpiry.map { min($0, expiry) } ?? expiry
    }

    private func sleep() {
        let mayWait = mail.withLock { mail in
            mail.isAsleep = mail.submitted.isEmpty && mail.cancelled.isEmpty && !mail.isStopping
            return mail.isAsleep
        }
        guard mayWait else { return }
        let wait = nextExpiry.map { ContinuousClock.now.duration(to: $0).milliseconds } ?? 60_000
        unsafe curl_multi_poll(multi, nil, 0, Int32(clamping: max(0, min(wait, 60_000))), nil)
    }

    /// Takes `transfer` off curl before its handler hears of the end, so that the handler may send again at once.
    private func finish(_ transfer: Transfer, _ result: Result<Void, TransportError>) {
        guard case .active(let easy, let index) = transfer.stage else { return }
        unsafe curl_multi_remove_handle(multi, easy.raw)
        let last = active.removeLast()
        if last !== transfer {
            active[index] = last
            last.moved(to: index)
        }
        idle.give(back: easy)
        switch result {
        case .success: lastMove = now
        case .failure(let error): log(.debug, "\(transfer.request.method.rawValue): \(error.message)")
        }
        transfer.complete(result)
    }

    private func endAll(notStarted: [Transfer]) {
        for transfer in active { finish(transfer, .failure(Self.shutDown)) }
        for transfer in notStarted { transfer.complete(.failure(Self.shutDown)) }
    }
}

extension Duration {
    /// Whole milliseconds, rounded up.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
