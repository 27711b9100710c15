import CCurl

/// Handles at rest, and the TLS sessions that all handles share. Used by the loop's thread only.
@safe
final class EasyPool {
    private let limit: Int
    private let share: UnsafeMutableRawPointer
    private var handles: [EasyHandle] = []

    init(limit: Int) {
        self.limit = limit
        guard let share = unsafe curl_share_init() else { preconditionFailure("curl_share_init: out of memory") }
        // One thread uses it, so it needs no locks.
        unsafe curl_door_share(share, CURL_LOCK_DATA_SSL_SESSION)
        unsafe self.share = share
    }

    deinit {
        // A handle lets go of the share, so it ends first.
        handles.removeAll()
        unsafe curl_share_cleanup(share)
    }

    func take() throws(TransportError) -> EasyHandle {
        if let handle = handles.popLast() { return handle }
        guard let handle = unsafe EasyHandle(share: share) else {
            throw TransportError(.notConnected, "no memory for another request")
        }
        return handle
    }

    func give(back handle: EasyHandle) {
        guard handles.count < limit else { return }
        handle.reset()
        handles.append(handle)
    }
}
