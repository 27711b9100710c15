import Glibc
import ObjectStore
import TestSupport
import Testing

@testable import FUSEBridge

/// Through the kernel and back. Needs root and /dev/fuse, and fails without them.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct MountTests {
    @Test func whatWasWrittenIsInTheBucketWhenTheCloseReturns() async throws {
        try await withMountedBucket { bucket in
            let ended = try await bucket.run("printf hello > a; printf ' you' >> a; mkdir d; mv a d/b; cat d/b")
            #expect(ended == .init(status: 0, output: "hello you"))
            #expect(bucket.store.bytes(of: ObjectName("d/b")) == Array("hello you".utf8))
            #expect(await bucket.unmount() == .unmounted)
        }
    }

    @Test func readsThatAreNotAlignedGiveTheBytesOfTheObject() async throws {
        try await withMountedBucket { bucket in
            var generator = SplitMix64(seed: 7)
            bucket.store.put("big", (0..<3_000_001).map { _ in UInt8.random(in: 0...255, using: &generator) })
            let ended = try await bucket.run(
                "cp big copy && dd if=big bs=7777 status=none | cmp - copy && stat -c %s copy")
            #expect(ended == .init(status: 0, output: "3000001\n"))
            #expect(bucket.store.bytes(of: ObjectName("copy")) == bucket.store.bytes(of: ObjectName("big")))
        }
    }

    @Test func aLargeFolderShowsEachNameOnce() async throws {
        try await withMountedBucket { bucket in
            for number in 0..<3_000 { bucket.store.put("d/f\(number)", []) }
            let ended = try await bucket.run("ls d | sort -u | wc -l; ls -l d | wc -l")
            #expect(ended.output == "3000\n3001\n")
        }
    }

    static let refusals = [
        ("cat absent", "No such file or directory"), ("ln a b", "Operation not permitted"),
        ("mknod p p", "Operation not permitted"), ("rmdir d", "Directory not empty"), ("mkdir a", "File exists"),
        ("cat a/b", "Not a directory"), ("fallocate -p -o 0 -l 1 a", "unsupported"),
    ]

    @Test(arguments: refusals)
    func whatABucketCannotDoIsRefusedInTheWordsOfTheSystem(_ script: String, _ words: String) async throws {
        try await withMountedBucket { bucket in
            bucket.store.put("a", [1])
            bucket.store.put("d/x", [1])
            let ended = try await bucket.run(script)
            #expect(ended.status != 0)
            #expect(ended.output.contains(words), "\(ended.output)")
        }
    }

    @Test func aCallerThatIsKilledDoesNotWaitAndItsBytesAreStillStored() async throws {
        try await withMountedBucket { bucket in
            bucket.store.hold(.insert)
            let writer = try bucket.start("exec truncate -s 10 f")
            await bucket.store.waitUntilHeld(.insert)
            writer.send(SIGKILL)
            // Would not return: the upload is held until after it.
            #expect(await writer.wait().status == 128 + SIGKILL)
            bucket.store.release(.insert)
            while bucket.store.bytes(of: ObjectName("f")) == nil { try await Task.sleep(for: .milliseconds(5)) }
            #expect(bucket.store.bytes(of: ObjectName("f")) == [UInt8](repeating: 0, count: 10))
        }
    }

    @Test func aSignalThatTheCallerHandlesDoesNotFailItsClose() async throws {
        try await withMountedBucket { bucket in
            bucket.store.hold(.insert)
            let writer = try bucket.start("trap 'echo signal' USR1; printf hello > f; echo status $?")
            await bucket.store.waitUntilHeld(.insert)
            writer.send(SIGUSR1)
            try await bucket.log.wait(for: "a signal reached thread")
            bucket.store.release(.insert)
            #expect(await writer.wait().output.contains("status 0"))
            #expect(bucket.store.bytes(of: ObjectName("f")) == Array("hello".utf8))
        }
    }

    @Test func aCallerThatIsKilledAfterAHandledSignalDoesNotWait() async throws {
        try await withMountedBucket { bucket in
            bucket.store.hold(.list)
            let reader = try bucket.start("trap : USR1; [ -e absent ]")
            await bucket.store.waitUntilHeld(.list)
            reader.send(SIGUSR1)
            try await bucket.log.wait(for: "a signal reached thread")
            reader.send(SIGKILL)
            #expect(await reader.wait().status == 128 + SIGKILL)
            bucket.store.release(.list)
        }
    }

    @Test func aDeadMountIsClearedAway() async throws {
        let directory = temporaryDirectory()
        let device = unsafe open("/dev/fuse", O_RDWR)
        let options = "fd=\(device),rootmode=40000,user_id=0,group_id=0"
        #expect(unsafe mount("dead", directory.path, "fuse", 0, options) == 0)
        close(device)
        defer { unsafe umount2(directory.path, Int32(MNT_DETACH)) }
        try await withMountedBucket(on: directory.path) { bucket in
            let ended = try await bucket.run("printf x > a; cat a")
            #expect(ended.output == "x")
        }
    }

    @Test func theKernelReadsAheadInLargePieces() async throws {
        try await withMountedBucket { bucket in
            let ended = try await bucket.run("cat /sys/class/bdi/$(stat -c %d . | sed 's/^/0:/')/read_ahead_kb")
            #expect(ended.output == "\(ReadAhead.kibibytes)\n")
        }
    }
}
