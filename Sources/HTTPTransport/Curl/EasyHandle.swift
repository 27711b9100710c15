import CCurl

/// Owner of one curl easy handle and of what curl borrows while it runs a request: headers and the error text.
/// Used by the loop's thread only.
@safe
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<curl_slist>?
    /// curl's upload buffer has been made larger than it needs to stay.
    private var hasLargeUploadBuffer = false

    /// - Parameter share: where TLS sessions are kept. nil when memory is short.
    init?(share: UnsafeMutableRawPointer) {
        guard let raw = unsafe curl_easy_init() else { return nil }
        unsafe self.raw = raw
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe set(CURLOPT_SHARE, pointer: share)
    }

    deinit {
        unsafe curl_easy_cleanup(raw)
        unsafe curl_slist_free_all(headers)
        unsafe errorText.deallocate()
    }

    /// Forgets the last request, but neither connections nor TLS sessions; to be called outside the multi handle.
    func reset() {
        unsafe curl_easy_reset(raw)
        unsafe curl_slist_free_all(headers)
        unsafe headers = nil
        // Setting the size frees the buffer: an idle handle need not hold it.
        if hasLargeUploadBuffer { set(CURLOPT_UPLOAD_BUFFERSIZE, 64 << 10) }
        hasLargeUploadBuffer = false
    }

    func set(_ option: CURLoption, _ value: Int) { unsafe curl_door_set_long(raw, option, value) }

    func set(_ option: CURLoption, offset: Int64) { unsafe curl_door_set_offset(raw, option, curl_off_t(offset)) }

    /// curl keeps a copy of `value`.
    func set(_ option: CURLoption, _ value: String) { unsafe curl_door_set_string(raw, option, value) }

    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
        unsafe curl_door_set_pointer(raw, option, pointer)
    }

    /// Keeps a copy of `body` to send.
    func set(copyOf body: [UInt8]) {
        set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(body.count))
        unsafe body.withUnsafeBytes { bytes in
            // An empty body must still have an address: none would mean that a callback supplies it.
            let address = unsafe bytes.baseAddress ?? UnsafeRawPointer(errorText)
            unsafe set(CURLOPT_COPYPOSTFIELDS, pointer: UnsafeMutableRawPointer(mutating: address))
        }
    }

    func setUploadBuffer(_ size: Int) {
        set(CURLOPT_UPLOAD_BUFFERSIZE, size)
        hasLargeUploadBuffer = true
    }

    /// Appends one header line; they are sent in this order.
    func add(header line: String) { unsafe headers = curl_slist_append(headers, line) }

    func applyHeaders() { unsafe set(CURLOPT_HTTPHEADER, pointer: headers) }

    /// Asks curl to put its words about a failure where `errorMessage` finds them.
    func keepErrorText() {
        unsafe errorText[0] = 0
        unsafe set(CURLOPT_ERRORBUFFER, pointer: errorText)
    }

    /// What curl said about the failure of the last request; empty if nothing.
    var errorMessage: String { unsafe String(cString: errorText) }

    /// How many connections the last request made; 0: it used a kept one.
    var connectionCount: Int { value(CURLINFO_NUM_CONNECTS) }

    /// The system's error number of a failed connect; 0 if there is none.
    var systemError: Int32 { Int32(truncatingIfNeeded: value(CURLINFO_OS_ERRNO)) }

    private func value(_ info: CURLINFO) -> Int {
        var value = 0
        unsafe curl_door_get_long(raw, info, &value)
        return value
    }
}
