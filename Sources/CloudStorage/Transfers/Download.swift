import Dispatch
import Locking
import ObjectStore

/// The transfer of a download task: one read after the other, until the object is there.
///
/// Unchecked: `course` and `content` are touched by one thread at a time: from `begin` to the end of its read by the
/// store's transfer thread, then by whoever finishes or goes on. The machine of the task lets nobody begin twice.
@safe
final class Download: ReadReceiver, @unchecked Sendable {
    private struct Control {
        /// Counts reads, so that none is noted after it has ended.
        var reads = 0
        /// A read is under way. Its transfer holds this value, so it is let go of as soon as it has ended.
        var isReading = false
        var transfer: (any StoreTransfer)?
        var isActive = false
        var mustStop = false
        var isAbandoned = false

        mutating func nextRead() -> Int {
            reads += 1
            isReading = true
            return reads
        }
    }

    /// Alive while there is something to tell it; a paused one may be given up by all who had it. Set before anyone
    /// else knows this value.
    weak var task: StorageDownloadTask?
    private let store: any ObjectStore
    private let control = Lock(Control())
    private var course: DownloadCourse
    private let content: any DownloadContent
    /// Why we ended a read ourselves.
    private var failure: StorageError?

    init(from store: any ObjectStore, _ course: DownloadCourse, into content: any DownloadContent) {
        self.store = store
        self.course = course
        self.content = content
    }

    // MARK: Whoever steers

    /// The first read, unless it was told to stop before.
    func begin() {
        let read = control.withLock { control -> Int? in
            guard !control.mustStop else { return nil }
            control.isActive = true
            return control.nextRead()
        }
        if let read { start(read) } else { rest() }
    }

    /// Another read after one that was told to stop has ended.
    func goOn() {
        control.withLock { $0.mustStop = $0.isAbandoned }
        begin()
    }

    /// The read under way ends, and its bytes stay.
    func stop() {
        let transfer = control.withLock { control in
            control.mustStop = true
            return control.transfer
        }
        transfer?.cancel()
    }

    /// Nothing of it will be used.
    func abandon() {
        let isIdle = control.withLock { control in
            control.isAbandoned = true
            control.mustStop = true
            return !control.isActive
        }
        if isIdle { content.discard() } else { stop() }
    }

    // MARK: One read

    private func start(_ read: Int) {
        let transfer = store.read(course.nextRead, into: self)
        let mustStop = control.withLock { control in
            if control.isReading, control.reads == read { control.transfer = transfer }
            return control.mustStop
        }
        if mustStop { transfer.cancel() }
    }

    func received(_ head: ReadHead) {
        do throws(StorageError) {
            let isNew = course.isNew
            try course.receive(head)
            if isNew { try content.begin(size: head.objectSize) }
        } catch {
            giveUp(error)
        }
        task?.moved(course.bytes)
    }

    func received(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        do throws(StorageError) {
            try unsafe course.receive(bytes)
            try unsafe content.append(bytes)
        } catch {
            return giveUp(error)
        }
        task?.moved(course.bytes)
    }

    private func giveUp(_ error: StorageError) {
        failure = failure ?? error
        stop()
    }

    func completed(_ result: Result<Void, ObjectStore::StorageError>) {
        control.withLock { control in
            control.isReading = false
            control.transfer = nil
        }
        if let failure { return fail(failure) }
        switch course.conclude(result) {
        case .finished:
            task?.news(.arrived)
            // A disk may take its time, which the transfer thread has not got.
            DispatchQueue.global().async { self.finish() }
        case .stopped: rest()
        case .startOver: startOver()
        case .failed(let error): fail(error)
        }
    }

    private func startOver() {
        do throws(StorageError) {
            try content.restart()
        } catch {
            return fail(error)
        }
        let read = control.withLock { control -> Int? in
            guard !control.mustStop else { return nil }
            return control.nextRead()
        }
        if let read { start(read) } else { rest() }
    }

    /// Nothing comes any more until it is told to go on.
    private func rest() {
        let isAbandoned = control.withLock { control in
            control.isActive = false
            return control.isAbandoned
        }
        if isAbandoned { content.discard() } else { task?.news(.stopped) }
    }

    private func finish() {
        do throws(StorageError) {
            // Cancelled at the last moment: the old file stays.
            guard !control.withLock({ $0.isAbandoned }) else { return content.discard() }
            task?.succeed(with: try content.finish())
        } catch {
            fail(error)
        }
    }

    private func fail(_ error: StorageError) {
        content.discard()
        task?.fail(error)
    }
}
