import HTTPTransport
import ObjectStore
import Testing

@testable import CloudStores

struct ErrorAnswerTests {
    private func answer(_ status: Int, _ body: String, _ headers: [(name: String, value: String)] = []) -> ErrorAnswer {
        ErrorAnswer(HTTPResponseHead(status: status, headers: headers), body: Array(body.utf8))
    }

    private func json(_ status: Int, reason: String) -> String {
        #"{"error":{"code":\#(status),"message":"m","errors":[{"domain":"global","reason":"\#(reason)"}]}}"#
    }

    @Test(
        arguments: [
            (304, "x", .preconditionFailed), (400, "invalid", .invalidRequest), (401, "authError", .unauthenticated),
            (402, "x", .quotaExceeded), (403, "forbidden", .forbidden), (403, "rateLimitExceeded", .rateLimited),
            (403, "userRateLimitExceeded", .rateLimited), (403, "quotaExceeded", .quotaExceeded),
            (404, "notFound", .notFound), (405, "x", .unsupported), (408, "x", .timedOut),
            (409, "conflict", .invalidRequest),
            (410, "gone", .notFound), (411, "x", .invalidRequest), (412, "conditionNotMet", .preconditionFailed),
            (413, "uploadTooLarge", .tooLarge), (416, "x", .rangeNotSatisfiable), (429, "x", .rateLimited),
            (499, "x", .invalidRequest), (500, "x", .serverFailed), (501, "x", .unsupported), (502, "x", .serverFailed),
            (503, "backendError", .serverFailed), (504, "x", .serverFailed), (302, "x", .malformedAnswer),
            (204, "x", .malformedAnswer),
        ] as [(Int, String, StorageError.Kind)])
    func everyStatusHasAMeaning(status: Int, reason: String, kind: StorageError.Kind) {
        let error = answer(status, json(status, reason: reason)).error("insert", ObjectName("x"))
        #expect(error.kind == kind)
        #expect(error.httpStatus == status)
        #expect(error.message == "m")
    }

    @Test(arguments: [
        ("No such object: demo/x", "No such object: demo/x"), ("\n  \nfirst\nsecond", "first"),
        (#"{"error":"flat"}"#, "flat"), (#"{"error":{"message":"a\nb"}}"#, "a b"),
        ("<html><body>502</body></html>", "the server failed"), ("", "the server failed"),
        (#"{"error":{}}"#, "the server failed"), (#"{"error":null}"#, "the server failed"),
        (#"{"error":{"message":7,"errors":[7,{}]}}"#, "the server failed"), ("{broken", "the server failed"),
    ])
    func messagesAreOneLineOfTheServersWords(body: String, message: String) {
        #expect(answer(502, body).message == message)
    }

    @Test func longMessagesAreCut() {
        #expect(answer(500, String(repeating: "é", count: 5_000)).message.count <= 300)
    }

    @Test func bytesThatAreNoTextAreHarmless() {
        let error = ErrorAnswer(HTTPResponseHead(status: 500, headers: []), body: [0xFF, 0, 0xC3, 10, 65])
        #expect(error.message.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test func retryAfterIsRead() {
        #expect(answer(503, "", [("retry-after", "7")]).retryAfter == .seconds(7))
        #expect(answer(503, "", [("retry-after", "-7")]).retryAfter == nil)
        #expect(answer(503, "", [("retry-after", "Mon, 30 Nov 2026 10:00:00 GMT")]).retryAfter == nil)
    }

    @Test(
        arguments: [
            (.unresolved, .unreachable), (.notConnected, .unreachable), (.connectionLost, .unreachable),
            (.timedOut, .timedOut), (.insecure, .unreachable), (.credentialsOverPlainHTTP, .unauthenticated),
            (.malformed, .malformedAnswer), (.bodySource, .sourceFailed), (.cancelled, .cancelled),
        ] as [(TransportError.Kind, StorageError.Kind)])
    func everyTransportFailureHasAMeaning(kind: TransportError.Kind, meaning: StorageError.Kind) {
        #expect(StorageError(TransportError(kind, "why"), "list", nil).kind == meaning)
    }

    @Test(
        arguments: [
            ("7", nil, Duration.seconds(7)), ("soon", nil, nil), ("-1", nil, nil),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:30 GMT", .seconds(7)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:00 GMT", .zero),
            ("Sun, 06 Nov 1994 08:49:37 GMT", nil, nil), ("Sun, 06 Foo 1994 08:49:37 GMT", "x", nil),
        ] as [(String, String?, Duration?)])
    func retryAfterIsANumberOrAMoment(text: String, date: String?, pause: Duration?) {
        let headers = [("retry-after", text)] + (date.map { [("date", $0)] } ?? [])
        #expect(ErrorAnswer(HTTPResponseHead(status: 503, headers: headers), body: []).retryAfter == pause)
    }
}
