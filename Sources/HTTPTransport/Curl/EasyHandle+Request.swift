import CCurl

extension EasyHandle {
    /// Sets all that curl needs to know of `request`, on a handle that is new or reset.
    func prepare(for request: HTTPRequest, configuration: CurlTransport.Configuration, connectLimit: Duration) {
        keepErrorText()
        setManners(configuration)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, connectLimit.milliseconds))
        set(CURLOPT_URL, request.url)
        if CurlLibrary.hasProxy, RequestURL.isLoopback(request.url) == true { set(CURLOPT_PROXY, "") }
        setMethodAndBody(request)
        setHeaders(request)
    }

    /// How long a connection may have been at rest that is used again, in seconds (curl's own default).
    static let restLimit = 118

    /// What holds for every request.
    private func setManners(_ configuration: CurlTransport.Configuration) {
        set(CURLOPT_NOSIGNAL, 1)
        // Without this, taking a request back whose host name is being looked up waits for the resolver, which takes
        // ten seconds and more of a dead one: on the thread of all requests.
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_USERAGENT, configuration.userAgent)
        // 64 to 256 KiB measured best; curl holds it only while the request runs.
        set(CURLOPT_BUFFERSIZE, 256 << 10)
        set(CURLOPT_TCP_NODELAY, 1)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 30)
        set(CURLOPT_TCP_KEEPINTVL, 10)
        if let authorities = configuration.certificateAuthorities { set(CURLOPT_CAINFO, authorities) }
    }

    private func setMethodAndBody(_ request: HTTPRequest) {
        switch (request.method, request.body) {
        case (.get, .none): set(CURLOPT_HTTPGET, 1)
        case (.head, .none): set(CURLOPT_NOBODY, 1)
        case (.delete, .none):
            set(CURLOPT_HTTPGET, 1)
            set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        case (_, let body):
            set(CURLOPT_POST, 1)
            set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
            setBody(body)
        }
    }

    private func setBody(_ body: HTTPBody) {
        switch body {
        case .none: set(copyOf: [])
        case .bytes(let bytes) where bytes.count <= RequestBodyReader.copiedSize: set(copyOf: bytes)
        case .bytes(let bytes): expectCallback(forBodyOf: Int64(bytes.count))
        case .stream(_, let length): expectCallback(forBodyOf: length)
        }
    }

    private func expectCallback(forBodyOf length: Int64) {
        set(CURLOPT_POSTFIELDSIZE_LARGE, offset: length)
        // Large pieces keep system calls few; a body that is smaller needs no more than itself.
        setUploadBuffer(Int(min(512 << 10, max(64 << 10, length))))
    }

    private func setHeaders(_ request: HTTPRequest) {
        var namesContentType = false
        for header in request.headers {
            // curl drops a header without a value unless it is put this way.
            add(header: header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
            if header.name.lowercased() == "content-type" { namesContentType = true }
        }
        // No round trip before a body, and no form type that nobody asked for.
        add(header: "Expect:")
        if !namesContentType { add(header: "Content-Type:") }
        applyHeaders()
    }

    /// Lets curl call the transfer behind `context`.
    func callBack(_ context: UnsafeMutableRawPointer, readsBody: Bool) {
        unsafe set(CURLOPT_PRIVATE, pointer: context)
        unsafe set(CURLOPT_PREREQDATA, pointer: context)
        unsafe curl_door_set_prerequest_callback(raw) { context, _, _, _, _ in
            unsafe Transfer.from(context).begin()
            return Int32(CURL_PREREQFUNC_OK)
        }
        unsafe callBackForAnswer(context)
        if readsBody { unsafe callBackForBody(context) }
    }

    private func callBackForAnswer(_ context: UnsafeMutableRawPointer) {
        unsafe set(CURLOPT_HEADERDATA, pointer: context)
        unsafe curl_door_set_transfer_callback(raw, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe Transfer.from(context).received(headerLine: line) ? line.count : 0
        }
        unsafe set(CURLOPT_WRITEDATA, pointer: context)
        unsafe curl_door_set_transfer_callback(raw, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe Transfer.from(context).received(body: piece) ? piece.count : 0
        }
    }

    private func callBackForBody(_ context: UnsafeMutableRawPointer) {
        unsafe set(CURLOPT_READDATA, pointer: context)
        unsafe curl_door_set_transfer_callback(raw, CURLOPT_READFUNCTION) { bytes, size, count, context in
            let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return unsafe Transfer.from(context).readBody(into: buffer) ?? Int(CURL_READFUNC_ABORT)
        }
        unsafe set(CURLOPT_SEEKDATA, pointer: context)
        unsafe curl_door_set_seek_callback(raw) { context, offset, origin in
            guard origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
            unsafe Transfer.from(context).rewindBody(to: Int64(offset))
            return CURL_SEEKFUNC_OK
        }
        // What leaves is only seen here: the read callback fills a buffer that may take long to send.
        set(CURLOPT_NOPROGRESS, 0)
        unsafe set(CURLOPT_XFERINFODATA, pointer: context)
        unsafe curl_door_set_progress_callback(raw) { context, _, received, _, sent in
            unsafe Transfer.from(context).progress(bytes: Int64(received) + Int64(sent))
            return 0
        }
    }
}
