import HTTPTransport
import Locking
import Logging
import ObjectStore

@testable import CloudStores

/// Every call of both stores, answered by the input: its first byte says which call, the rest is what the server says.
enum AnswersTarget {
    static func run(_ input: [UInt8]) -> Bool {
        guard let first = input.first else { return false }
        return WaitingThread.wait { await call(Int(first), AnsweringTransport(input.dropFirst(), on: $0)) }
    }

    private static let name = ObjectName("folder/name.txt")

    private static func call(_ number: Int, _ transport: AnsweringTransport) async -> Bool {
        let store: any BucketStore = number % 2 == 0 ? googleCloud(transport) : firebase(transport)
        // What is thrown is the outcome that most inputs deserve.
        do throws(StorageError) {
            switch number / 2 % 16 {
            case 0: check(try await store.list(ListQuery(prefix: ObjectName("folder/"), collapsesFolders: true)))
            case 1: check(try await store.metadata(of: name))
            case 2: return await read(store, count: nil)
            case 3: return await read(store, count: 10)
            case 4: check(try await store.insert(upload(size: 100)))
            case 5: check(try await store.insert(upload(size: 600_000)))
            case 6: check(try await store.move(ObjectCopy(source: name, destination: ObjectName("other"))))
            case 7: try await store.delete(name, if: .none)
            case 8: check(try await store.copy(ObjectCopy(source: name, destination: ObjectName("other"))))
            case 9: check(try await store.patch(name, MetadataPatch(custom: ["key": .set("value")]), if: .mustNotExist))
            case 10: check(try await store.compose(composition))
            case 11: _ = try await store.moveFolder(ObjectName("a/"), to: ObjectName("b/"))
            case 12: try await store.removeFolder(ObjectName("a/"))
            case 13: try await store.checkBucket(listing: ObjectName("folder/"))
            case 14: check(try await store.insert(growingUpload))
            default:
                let headers = ObjectHeaders(contentType: "text/plain", custom: ["key": "value"])
                let precondition = Precondition.mustNotExist
                check(
                    try await store.move(
                        ObjectCopy(
                            source: name, destination: ObjectName("other"), precondition: precondition,
                            headers: headers)))
            }
            return true
        } catch { return false }
    }

    private static let clock = RetryClock(now: { .zero }, sleep: { _ in }, random: { 0.5 })

    static func googleCloud(_ transport: AnsweringTransport) -> GoogleCloudStore {
        var configuration = GoogleCloudStore.Configuration()
        configuration.wholeUploadLimit = 1_000
        configuration.chunkSize = 256 << 10
        configuration.streamChunkSize = 256 << 10
        return GoogleCloudStore(
            bucket: "bucket", endpoint: endpoint, transport: transport, credentials: AnonymousCredential(),
            configuration: configuration, clock: clock, log: Logger(level: .error) { _, _ in })
    }

    static func firebase(_ transport: AnsweringTransport) -> FirebaseStore {
        var configuration = FirebaseStore.Configuration()
        configuration.wholeUploadLimit = 1_000
        configuration.chunkSize = 256 << 10
        return FirebaseStore(
            bucket: "bucket", endpoint: endpoint, transport: transport, credentials: AnonymousCredential(),
            configuration: configuration, clock: clock, log: Logger(level: .error) { _, _ in })
    }

    private static let endpoint: ServiceEndpoint = {
        do throws(ServiceEndpoint.ParsingError) { return try ServiceEndpoint(parsing: "http://127.0.0.1:1") } catch {
            preconditionFailure("\(error)")
        }
    }()

    // MARK: What must hold of what is let through

    private static func check(_ page: ListPage) {
        for item in page.items { check(item) }
        for name in page.items.map(\.name) + page.names + page.folders {
            let rest = name.bytes.dropFirst(7)
            precondition(
                name.bytes.starts(with: "folder/".utf8) && !rest.dropLast().contains(UInt8(ascii: "/")),
                "\(name) is elsewhere")
        }
        for folder in page.folders { precondition(folder.bytes.last == UInt8(ascii: "/"), "\(folder) is no folder") }
    }

    private static func check(_ object: ObjectMetadata) { precondition(object.size >= 0, "\(object)") }

    private static func upload(size: Int64) -> Upload {
        Upload(name: name, headers: ObjectHeaders(), precondition: .mustNotExist, source: Zeros(size: size))
    }

    private static var composition: Composition {
        Composition(
            sources: [(name, nil), (ObjectName("other"), ObjectGeneration(1))], destination: name,
            headers: ObjectHeaders(custom: ["key": "value"]), precondition: .mustNotExist)
    }

    private static var growingUpload: Upload {
        var upload = upload(size: 600_000)
        upload.growth = Growing()
        return upload
    }

    /// As a file that is written faster than it leaves.
    private struct Growing: UploadGrowth {
        let isAwaited = true

        func next(beyond offset: Int64) async -> Growth {
            offset < 600_000 ? .more(to: min(offset + 300_000, 600_000)) : .ended(ObjectHeaders())
        }
    }

    private static func read(_ store: any ObjectStore, count: Int64?) async -> Bool {
        let receiver = CheckedRead()
        return await withCheckedContinuation { continuation in
            receiver.whenDone { continuation.resume(returning: $0) }
            store.read(ReadRequest(name: name, offset: 5, count: count), into: receiver)
        }
    }

    /// Holds a store to the rules of `ReadReceiver`.
    private final class CheckedRead: ReadReceiver {
        private struct State {
            var head: ReadHead?
            var count: Int64 = 0
            var isDone = false
            var whenDone: (@Sendable (Bool) -> Void)?
        }

        private let state = Lock(State())

        func whenDone(_ body: @escaping @Sendable (Bool) -> Void) { state.withLock { $0.whenDone = body } }

        func received(_ head: ReadHead) {
            state.withLock { state in
                precondition(state.head == nil && !state.isDone, "a head too many")
                precondition(head.count >= 0 && head.objectSize >= head.count, "\(head)")
                state.head = head
            }
        }

        func received(_ bytes: UnsafeRawBufferPointer) {
            state.withLock { state in
                precondition(state.head != nil && !state.isDone, "bytes out of turn")
                state.count += Int64(bytes.count)
                precondition(state.count <= state.head?.count ?? 0, "more bytes than announced")
            }
        }

        func completed(_ result: Result<Void, StorageError>) {
            var isSuccess = false
            if case .success = result { isSuccess = true }
            let whenDone = state.withLock { state in
                precondition(!state.isDone, "completed twice")
                if case .success = result {
                    precondition(state.head?.count == state.count, "fewer bytes than announced")
                }
                state.isDone = true
                return state.whenDone
            }
            whenDone?(isSuccess)
        }
    }
}

/// The bytes of an upload.
struct Zeros: UploadSource {
    let size: Int64
    let crc32c: UInt32 = 0

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
        return buffer.count
    }
}
