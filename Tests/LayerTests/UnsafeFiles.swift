/// The files of `Sources` that may say `unsafe`: the doors to C, the buffers of the hot paths, system calls.
enum UnsafeFiles {
    static let all: Set<String> = [
        "Sources/HTTPTransport/Curl/CurlLibrary.swift",
        "Sources/HTTPTransport/Curl/EasyHandle+Request.swift",
        "Sources/HTTPTransport/Curl/EasyHandle.swift",
        "Sources/HTTPTransport/Curl/EasyPool.swift",
        "Sources/HTTPTransport/Curl/LoopThread.swift",
        "Sources/HTTPTransport/Curl/RequestBodyReader.swift",
        "Sources/HTTPTransport/Curl/RequestURL.swift",
        "Sources/HTTPTransport/Curl/ResponseHeadParser.swift",
        "Sources/HTTPTransport/Curl/Transfer.swift",
        "Sources/HTTPTransport/Curl/TransferLoop.swift",
        "Sources/HTTPTransport/Curl/TransportError+Curl.swift",
        "Sources/HTTPTransport/HTTPAnswer.swift",
        "Sources/Locking/Lock.swift",
    ]
}
