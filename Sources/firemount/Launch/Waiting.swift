import Locking

/// Waits on this thread for an async piece of starting or ending, for which there is a thread to spare: never called
/// from a task. nil: it took longer than `time`; it is cancelled then, and goes on unheard.
func wait<Value: Sendable>(
    atMost time: Duration?, for body: @escaping @Sendable () async -> Value
) throws(SystemError) -> Value? {
    let outcome = Outcome<Value>(try Pipe())
    let task = Task.detached {
        let value = await body()
        outcome.value.withLock { $0 = value }
        // The pipe is open as long as the outcome is, and has room for a byte.
        try? outcome.pipe.writing.write([0])
    }
    guard outcome.pipe.reading.waitUntilReadable(atMost: time) else {
        task.cancel()
        return nil
    }
    return outcome.value.withLock { $0 }
}

/// The same without a limit, with something to do meanwhile.
/// - Parameter tick: called each `interval`, on this thread.
func wait<Value: Sendable>(
    each interval: Duration, _ tick: () -> Void, for body: @escaping @Sendable () async -> Value
) throws(SystemError) -> Value {
    let outcome = Outcome<Value>(try Pipe())
    Task.detached {
        let value = await body()
        outcome.value.withLock { $0 = value }
        try? outcome.pipe.writing.write([0])
    }
    while !outcome.pipe.reading.waitUntilReadable(atMost: interval) { tick() }
    guard let value = outcome.value.withLock({ $0 }) else { preconditionFailure("the pipe told of a value") }
    return value
}

private final class Outcome<Value: Sendable>: Sendable {
    let value = Lock<Value?>(nil)
    let pipe: Pipe

    init(_ pipe: consuming Pipe) { self.pipe = pipe }
}
