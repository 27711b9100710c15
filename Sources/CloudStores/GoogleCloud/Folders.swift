import HTTPTransport
package import ObjectStore

/// Folders of hierarchical buckets, which are more than the names of what is in them (PROTOCOL 4.7).
extension GoogleCloudStore {
    /// Renames a folder with all that is in it, in one atomic step. False: the bucket has no folders of its own, or not
    /// this one.
    package func moveFolder(_ source: ObjectName, to destination: ObjectName) async throws(StorageError) -> Bool {
        guard try await isHierarchical() else { return false }
        // Once the folder has moved a second attempt finds none.
        var call = Call(
            "move", source, .post, routes.folder(source, renamedTo: destination), safety: .onceOnly)
        call.body = .bytes([])
        do throws(StorageError) {
            var operation = try Operation(try await caller.answer(to: call), source)
            // As long as other clients of the service wait at first, doubled up to a second.
            var pause = Duration.milliseconds(50)
            while !operation.isDone {
                try await caller.sleep(pause, "move", source)
                pause = min(pause * 2, .seconds(1))
                let poll = Call("move", source, .get, routes.operation(operation.id), safety: .repeatable)
                operation = try Operation(try await caller.answer(to: poll), source)
            }
            if let failure = operation.failure { throw failure }
            return true
        } catch  where error.kind == .notFound {
            return false
        }
    }

    /// Removes an empty folder, where folders are more than names.
    package func removeFolder(_ name: ObjectName) async throws(StorageError) {
        guard try await isHierarchical() else { return }
        do throws(StorageError) {
            _ = try await caller.answer(to: Call("delete", name, .delete, routes.folder(name), safety: .repeatable))
        } catch  where error.kind == .notFound {
            // It is gone, as it should be.
        }
    }

    /// Asked once, when it first matters.
    private func isHierarchical() async throws(StorageError) -> Bool {
        if let known = hasFolders { return known }
        let call = Call("layout", nil, .get, routes.storageLayout, safety: .repeatable)
        let answer: HTTPAnswer
        do throws(StorageError) {
            answer = try await caller.answer(to: call)
        } catch {
            switch error.kind {
            // Servers that do not know the question have no folders either; who may not ask must do without.
            case .notFound, .forbidden, .unauthenticated, .invalidRequest, .unsupported:
                hasFolders = false
                return false
            default: throw error
            }
        }
        let isHierarchical = JSONFields(answer.body)?.object("hierarchicalNamespace")?.isTrue("enabled") == true
        hasFolders = isHierarchical
        return isHierarchical
    }

    /// A long-running operation, as far as it has come.
    private struct Operation {
        let id: String
        let isDone: Bool
        let failure: StorageError?

        init(_ answer: HTTPAnswer, _ object: ObjectName) throws(StorageError) {
            guard let fields = JSONFields(answer.body), let name = fields.string("name") else {
                throw StorageError(
                    .malformedAnswer, operation: "move", object: object, httpStatus: answer.status,
                    message: "the answer is no operation")
            }
            id = name.split(separator: "/").last.map(String.init) ?? name
            isDone = fields.isTrue("done")
            failure = fields.object("error").map { error in
                let kind: StorageError.Kind = error.number("code") == 404 ? .notFound : .serverFailed
                return StorageError(
                    kind, operation: "move", object: object,
                    message: error.string("message") ?? "the bucket could not rename the folder")
            }
        }
    }
}
