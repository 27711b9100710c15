import HTTPTransport
package import ObjectStore

/// `GET /b/{B}/o/{O}?alt=media` (PROTOCOL 4.4).
extension GoogleCloudStore {
    @discardableResult
    package func read(_ request: ReadRequest, into receiver: any ReadReceiver) -> any StoreTransfer {
        let routes = self.routes
        let transfer = ObjectRead(request, asksForGeneration: true, by: caller, into: receiver) { generation in
            var query = Query()
            query.add("alt", "media")
            if let generation { query.add("generation", generation.rawValue) }
            return routes.object(request.name, query)
        }
        transfer.start()
        return transfer
    }
}
