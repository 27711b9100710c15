import HTTPTransport
package import ObjectStore

/// `GET /v0/b/{B}/o/{O}?alt=media` (PROTOCOL 1.7). No generation can be asked for: whichever is live answers, and is
/// refused before a byte is delivered if it is another than the one that was asked for.
extension FirebaseStore {
    @discardableResult
    package func read(_ request: ReadRequest, into receiver: any ReadReceiver) -> any StoreTransfer {
        var query = Query()
        query.add("alt", "media")
        let url = routes.object(request.name, query)
        let transfer = ObjectRead(request, asksForGeneration: false, by: caller, into: receiver) { _ in url }
        transfer.start()
        return transfer
    }
}
