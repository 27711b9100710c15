import CFUSE
import Glibc
import Logging
import ObjectStore
import TestSupport
import Testing

@testable import BucketFileSystem
@testable import FUSEBridge

struct ReplyTests {
    private static let operation = Operation("getattr", .root, EntryName("name"))

    @Test func aRequestThatIsDroppedIsAnsweredWithEIO() throws {
        let kernel = PretendedKernel { operations in
            unsafe operations.getattr = { request, _, _ in _ = unsafe Request(request).reply(ReplyTests.operation) }
        }
        kernel.askForAttributes()
        #expect(try #require(kernel.nextAnswer()).error == -EIO)
        #expect(kernel.nextAnswer() == nil)
        #expect(kernel.log.lines(.error).count == 1)
    }

    @Test func aRequestThatIsForgottenElsewhereIsAnsweredWithEIO() throws {
        let kernel = PretendedKernel { operations in
            unsafe operations.getattr = { request, _, _ in
                let owed = unsafe OwedReply(Request(request).reply(ReplyTests.operation))
                owed.watch(cancelling: nil)
            }
        }
        kernel.askForAttributes()
        #expect(try #require(kernel.nextAnswer()).error == -EIO)
        #expect(kernel.nextAnswer() == nil)
    }

    @Test func theFirstAnswerWins() throws {
        let kernel = PretendedKernel { operations in
            unsafe operations.getattr = { request, _, _ in
                let owed = unsafe OwedReply(Request(request).reply(ReplyTests.operation))
                owed.watch(cancelling: nil)
                owed.fail(.notFound)
                owed.done()
            }
        }
        kernel.askForAttributes()
        #expect(try #require(kernel.nextAnswer()).error == -ENOENT)
        #expect(kernel.nextAnswer() == nil)
    }

    @Test func whatTheBucketRefusedIsLoggedOnceWithOperationNameAndCause() throws {
        let kernel = PretendedKernel { operations in
            unsafe operations.getattr = { request, _, _ in
                let error = StorageError(.forbidden, operation: "get", httpStatus: 403, message: "not yours")
                unsafe Request(request).reply(ReplyTests.operation).fail(.storage(error))
            }
        }
        kernel.askForAttributes()
        #expect(try #require(kernel.nextAnswer()).error == -EACCES)
        #expect(kernel.log.lines(.warning) == ["getattr \"name\" in inode 1: get: not yours (HTTP 403)"])
    }

    @Test func whatProgramsMeetEveryDayIsNotLogged() {
        let kernel = PretendedKernel { operations in
            unsafe operations.getattr = { request, _, _ in
                unsafe Request(request).reply(ReplyTests.operation).fail(.notFound)
            }
        }
        kernel.askForAttributes()
        #expect(kernel.log.lines(.warning).isEmpty)
    }

    @Test func anExtendedAttributeThatDoesNotFitIsRefusedAndItsSizeIsTold() throws {
        let kernel = PretendedKernel { operations in
            // The number of the inode is the caller's capacity.
            unsafe operations.getattr = { request, inode, _ in
                let reply = unsafe Request(request).reply(ReplyTests.operation)
                reply.extendedAttribute(Array("text/plain".utf8), capacity: Int(inode))
            }
        }
        kernel.askForAttributes(of: 0)
        // fuse_getxattr_out: size and padding.
        #expect(try #require(kernel.nextAnswer()).bytes == [10, 0, 0, 0, 0, 0, 0, 0])
        kernel.askForAttributes(of: 9)
        #expect(try #require(kernel.nextAnswer()).error == -ERANGE)
        kernel.askForAttributes(of: 10)
        #expect(try #require(kernel.nextAnswer()).bytes == Array("text/plain".utf8))
    }

    @Test func extendedAttributesOfOtherNamespacesAreRefusedFromMemory() throws {
        let kernel = PretendedKernel { $0 = makeOperations() }
        kernel.askForExtendedAttribute("security.capability")
        #expect(try #require(kernel.nextAnswer()).error == -ENODATA)
        kernel.askForExtendedAttribute("system.posix_acl_access")
        #expect(try #require(kernel.nextAnswer()).error == -EOPNOTSUPP)
        #expect(kernel.store.requestCount == 0)
    }

    @Test(arguments: [2, 3, 1_000, 1_001])
    func bytesOfManyPiecesArriveInTheirOrder(_ count: UInt32) throws {
        let kernel = PretendedKernel { operations in
            // As many pieces as the number of the inode.
            unsafe operations.getattr = { request, inode, _ in
                let owner = NumberedBytes(count: Int(inode))
                let pieces = (0..<Int(inode)).map { unsafe ReadBytes.Piece(bytes: owner[$0], owner: owner) }
                unsafe Request(request).reply(ReplyTests.operation).bytes(ReadBytes(pieces: pieces))
            }
        }
        kernel.askForAttributes(of: count)
        let answer = try #require(kernel.nextAnswer())
        #expect(answer.error == 0)
        #expect(answer.bytes == (0..<Int(count)).flatMap(NumberedBytes.piece))
    }
}

/// Pieces of three bytes that tell their place.
@safe
private final class NumberedBytes: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer

    init(count: Int) {
        unsafe memory = .allocate(byteCount: count * 3, alignment: 1)
        unsafe memory.copyBytes(from: (0..<count).flatMap(NumberedBytes.piece))
    }

    deinit { unsafe memory.deallocate() }

    subscript(index: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: memory[index * 3..<index * 3 + 3])
    }

    static func piece(_ index: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index >> 8), 0xAA]
    }
}
