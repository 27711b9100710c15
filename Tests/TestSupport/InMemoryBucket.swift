import CISAL
import ObjectStore

/// The rules of a bucket, as a value: objects by name, generations, preconditions, lists.
struct InMemoryBucket {
    struct Object {
        var metadata: ObjectMetadata
        var bytes: [UInt8]
    }

    private var objects: [ObjectName: Object] = [:]
    /// The keys of `objects` in byte order.
    private(set) var names: [ObjectName] = []
    /// Counts changes; makes generations and times, so that both are the same in each run.
    private var changes: Int64 = 0

    subscript(name: ObjectName) -> Object? { objects[name] }

    // MARK: Lists

    func list(_ query: ListQuery) throws(StorageError) -> ListPage {
        guard (1...1_000).contains(query.pageSize) else {
            throw StorageError(.invalidRequest, operation: "list", message: "page size \(query.pageSize)")
        }
        var page = ListPage(items: [], folders: [], nextPageToken: nil)
        var last: ListPosition?
        var index = try firstIndex(of: query)
        while index < names.count, names[index].bytes.starts(with: query.prefix.bytes) {
            guard page.items.count + page.folders.count < query.pageSize else {
                page.nextPageToken = last?.token
                break
            }
            let name = names[index]
            if query.collapsesFolders, let folder = name.folder(below: query.prefix) {
                page.folders.append(folder)
                // The folder's placeholder is an item as well (PROTOCOL.md, list: includeTrailingDelimiter).
                if name == folder { page.items.append(objects[name]!.metadata) }
                last = .folder(folder)
                index = firstIndex { !$0.bytes.starts(with: folder.bytes) && folder < $0 }
            } else {
                page.items.append(objects[name]!.metadata)
                last = .item(name)
                index += 1
            }
        }
        return page
    }

    private func firstIndex(of query: ListQuery) throws(StorageError) -> Int {
        guard let token = query.pageToken else { return firstIndex { query.prefix <= $0 } }
        switch ListPosition(token: token) {
        case .item(let name): return firstIndex { name < $0 }
        case .folder(let folder): return firstIndex { !$0.bytes.starts(with: folder.bytes) && folder < $0 }
        case nil: throw StorageError(.invalidRequest, operation: "list", message: "page token \(token)")
        }
    }

    /// The first index whose name satisfies `predicate`, which stays true once it is.
    private func firstIndex(where predicate: (ObjectName) -> Bool) -> Int {
        var low = 0
        var high = names.count
        while low < high {
            let middle = (low + high) / 2
            if predicate(names[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    // MARK: One object

    func existing(_ name: ObjectName, for operation: StoreOperation) throws(StorageError) -> Object {
        guard let object = objects[name] else {
            throw StorageError(
                .notFound, operation: operation.rawValue, object: name, httpStatus: 404, message: "no such object")
        }
        return object
    }

    func check(
        _ precondition: Precondition, on name: ObjectName, for operation: StoreOperation
    ) throws(StorageError) {
        let live = objects[name]?.metadata
        let objectHolds =
            switch precondition.object {
            case nil: true
            case .mustNotExist: live == nil
            case .mustBe(let generation): live?.objectGeneration == generation
            }
        let metadataHolds = precondition.metageneration.map { live?.metageneration == $0 } ?? true
        guard objectHolds, metadataHolds else {
            throw StorageError(
                .preconditionFailed, operation: operation.rawValue, object: name, httpStatus: 412,
                message: "conditionNotMet")
        }
    }

    /// Stores `bytes` as a new generation of `name`, unconditionally.
    @discardableResult
    mutating func store(
        _ name: ObjectName, _ bytes: [UInt8], headers: ObjectHeaders, componentCount: Int? = nil
    ) throws(StorageError) -> ObjectMetadata {
        guard (1...1_024).contains(name.bytes.count) else {
            throw StorageError(
                .invalidRequest, operation: "insert", object: name, httpStatus: 400, message: "name length")
        }
        let now = tick()
        let metadata = ObjectMetadata(
            name: name, objectGeneration: ObjectGeneration(Self.firstGeneration + changes * 1_000),
            metageneration: Metageneration(1), size: Int64(bytes.count), timeCreated: now, updated: now,
            crc32c: crc32c(of: bytes), etag: "e\(changes)", storageClass: "STANDARD", componentCount: componentCount,
            headers: headers)
        if objects.updateValue(Object(metadata: metadata, bytes: bytes), forKey: name) == nil {
            names.insert(name, at: firstIndex { name <= $0 })
        }
        return metadata
    }

    mutating func patch(_ name: ObjectName, _ patch: MetadataPatch) throws(StorageError) -> ObjectMetadata {
        var metadata = try existing(name, for: .patch).metadata
        metadata.headers.apply(patch)
        metadata.metageneration = Metageneration(metadata.metageneration.rawValue + 1)
        metadata.updated = tick()
        metadata.etag = "e\(changes)"
        objects[name]!.metadata = metadata
        return metadata
    }

    mutating func remove(_ name: ObjectName) throws(StorageError) {
        guard objects.removeValue(forKey: name) != nil else {
            throw StorageError(.notFound, operation: "delete", object: name, httpStatus: 404, message: "no such object")
        }
        names.remove(at: firstIndex { name <= $0 })
    }

    // MARK: Several objects

    mutating func copy(_ copy: ObjectCopy, for operation: StoreOperation) throws(StorageError) -> ObjectMetadata {
        let source = try existing(copy.source, for: operation)
        if let generation = copy.sourceGeneration {
            try check(.mustBe(generation), on: copy.source, for: operation)
        }
        return try store(
            copy.destination, source.bytes, headers: copy.headers ?? source.metadata.headers,
            componentCount: source.metadata.componentCount)
    }

    mutating func compose(_ composition: Composition) throws(StorageError) -> ObjectMetadata {
        guard (1...32).contains(composition.sources.count) else {
            throw StorageError(
                .invalidRequest, operation: "compose", object: composition.destination, httpStatus: 400,
                message: "\(composition.sources.count) sources")
        }
        var bytes: [UInt8] = []
        var components = 0
        for source in composition.sources {
            let object = try existing(source.name, for: .compose)
            if let generation = source.objectGeneration {
                try check(.mustBe(generation), on: source.name, for: .compose)
            }
            bytes += object.bytes
            components += object.metadata.componentCount ?? 1
        }
        return try store(composition.destination, bytes, headers: composition.headers, componentCount: components)
    }

    // MARK: Time

    /// 2026-01-01 in microseconds, as a real bucket's generations look.
    private static let firstGeneration: Int64 = 1_767_225_600_000_000

    mutating func passTime(seconds: Int64) { changes += seconds * 1_000 }

    /// Each change comes a millisecond after the one before.
    private mutating func tick() -> Timestamp {
        changes += 1
        return Timestamp(
            seconds: 1_767_225_600 + changes / 1_000, nanoseconds: Int32(changes % 1_000) * 1_000_000)
    }
}

/// CRC32C of `bytes`, as a bucket states it.
package func crc32c(of bytes: [UInt8]) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe firemount_crc32c(0, $0.baseAddress, $0.count) }
}

/// Where a page ended.
private enum ListPosition {
    case item(ObjectName)
    case folder(ObjectName)

    /// Kind, then the name's bytes as decimals: opaque to clients, readable in a debugger.
    var token: String {
        switch self {
        case .item(let name): "item " + name.bytes.map(String.init).joined(separator: ".")
        case .folder(let name): "folder " + name.bytes.map(String.init).joined(separator: ".")
        }
    }

    init?(token: String) {
        let parts = token.split(separator: " ")
        guard parts.count == 2 else { return nil }
        let bytes = parts[1].split(separator: ".").compactMap { UInt8($0) }
        switch parts[0] {
        case "item": self = .item(ObjectName(bytes))
        case "folder": self = .folder(ObjectName(bytes))
        default: return nil
        }
    }
}

extension ObjectName {
    /// The name up to and with the first `/` after `prefix`; nil if there is none.
    fileprivate func folder(below prefix: ObjectName) -> ObjectName? {
        guard let slash = bytes.dropFirst(prefix.bytes.count).firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return ObjectName(Array(bytes[...slash]))
    }
}
