import Locking
import Logging
package import ObjectStore

/// Who can issue tokens: a key, a user's consent, the machine.
protocol TokenIssuer: Sendable {
    /// How its tokens are presented.
    var scheme: AuthorizationScheme { get }
    /// A token with less than this left is replaced.
    var margin: Duration { get }
    /// Asks for a new one.
    func token(by service: TokenService) async throws(StorageError) -> AccessToken
}

extension TokenIssuer {
    var scheme: AuthorizationScheme { .bearer }
    /// PROTOCOL 3.3: refresh when.
    var margin: Duration { .seconds(225) }
}

/// Keeps the token of an issuer good. One refresh is under way at a time, and all who wait share it; any thread may
/// ask.
package final class RefreshingCredential: CredentialSource {
    typealias Outcome = Result<Authorization, StorageError>

    private struct Held {
        let authorization: Authorization
        /// From here on a new one is fetched.
        let refresh: ContinuousClock.Instant?
        /// From here on it is worth nothing.
        let expiry: ContinuousClock.Instant?
    }

    private struct State {
        var held: Held?
        var isRefreshing = false
        var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var nextWaiter = 0
    }

    private let issuer: any TokenIssuer
    private let service: TokenService
    private let quotaProject: String?
    private let state = Lock(State())

    /// - Parameter token: one that was issued a moment ago; nil: the first one is fetched when it is needed.
    init(
        of issuer: any TokenIssuer, _ service: TokenService, quotaProject: String? = nil, token: AccessToken? = nil
    ) {
        self.issuer = issuer
        self.service = service
        self.quotaProject = quotaProject
        if let token {
            let held = hold(token, asked: service.clock.now())
            state.withLock { $0.held = held }
        }
    }

    package func cachedAuthorization() -> Authorization? {
        let now = service.clock.now()
        return state.withLock { $0.held.flatMap { Self.isBefore($0.refresh, now) ? $0.authorization : nil } }
    }

    package func authorization(replacing rejected: Authorization?) async throws(StorageError) -> Authorization {
        if let cached = cachedAuthorization(), cached != rejected { return cached }
        return try await refreshed(replacing: rejected).get()
    }

    // MARK: Waiting

    /// Waits for a refresh, begun here if none is under way. A cancelled task waits no longer.
    private func refreshed(replacing rejected: Authorization?) async -> Outcome {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { wait(as: number, with: $0, replacing: rejected) }
        } onCancel: {
            leave(number)
        }
    }

    private static let cancelled = Outcome.failure(
        StorageError(.cancelled, operation: TokenService.operation, message: "cancelled"))

    private func wait(
        as number: Int, with continuation: CheckedContinuation<Outcome, Never>, replacing rejected: Authorization?
    ) {
        let mustStart = state.withLock { state in
            if let rejected, state.held?.authorization == rejected { state.held = nil }
            state.waiters[number] = continuation
            defer { state.isRefreshing = true }
            return !state.isRefreshing
        }
        // The refresh is nobody's child: it goes on for the others when the one who began it is cancelled.
        if mustStart { Task { await refresh() } }
        // A cancellation that came before the continuation was there has found nobody to tell.
        if Task.isCancelled { leave(number) }
    }

    private func leave(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: Self.cancelled)
    }

    // MARK: Refreshing

    private func refresh() async {
        let asked = service.clock.now()
        let result: Result<AccessToken, StorageError>
        do throws(StorageError) {
            result = .success(try await issuer.token(by: service))
        } catch {
            result = .failure(error)
        }
        let (outcome, waiters) = state.withLock { state in
            let outcome = conclude(result, asked: asked, &state)
            defer { state.waiters = [:] }
            state.isRefreshing = false
            return (outcome, state.waiters)
        }
        if case .failure(let error) = result { service.log(.debug, "\(error)") }
        for waiter in waiters.values { waiter.resume(returning: outcome) }
    }

    private func conclude(
        _ result: Result<AccessToken, StorageError>, asked: ContinuousClock.Instant, _ state: inout State
    ) -> Outcome {
        switch result {
        case .success(let token):
            let held = hold(token, asked: asked)
            state.held = held
            return .success(held.authorization)
        case .failure(let error):
            // The old one may be good for some minutes yet, which is better than nothing while nobody can be asked.
            guard error.kind != .unauthenticated, let held = state.held,
                Self.isBefore(held.expiry, service.clock.now())
            else { return .failure(error) }
            return .success(held.authorization)
        }
    }

    private func hold(_ token: AccessToken, asked: ContinuousClock.Instant) -> Held {
        // A machine's token may come with little time left; half of it is used rather than none.
        let margin = issuer.margin
        let use = token.lifetime.map { $0 > margin * 2 ? $0 - margin : $0 / 2 }
        return Held(
            authorization: token.authorization(issuer.scheme, quotaProject: quotaProject),
            refresh: use.map { asked.advanced(by: $0) }, expiry: token.lifetime.map { asked.advanced(by: $0) })
    }

    private static func isBefore(_ end: ContinuousClock.Instant?, _ now: ContinuousClock.Instant) -> Bool {
        end.map { now < $0 } ?? true
    }
}
