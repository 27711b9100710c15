import Foundation
import Testing

/// The local server fails on request: errors reach the user, transient ones do not.
@Suite(.serialized, .mounted([.local], options: MountedBucket.watchfulOptions + ["--timeout", "20s"])) struct FaultTests
{
    @Test func aRefusedUploadFailsTheCopyAndKeepsTheOldObject() throws {
        let folder = try Mounts.folder(on: .local)
        try folder.bucket.put(folder.object("file"), "old")
        try folder.bucket.injectFault("storage.objects.insert", "return-403", times: 100)
        defer { try? folder.bucket.clearFaults() }
        try folder.run(
            """
            seq 1000 >"$T/file"
            if cp "$T/file" "$F/file" 2>"$T/said"; then fail 'cp believed that a refused upload was stored'; fi
            grep -q 'Permission denied\\|failed to close' "$T/said" || { cat "$T/said"; fail 'cp says nothing of it'; }
            """)
        #expect(try folder.bucket.text(folder.object("file")) == "old")
    }

    @Test func aRefusedNewFileLeavesNothing() throws {
        let folder = try Mounts.folder(on: .local)
        try folder.bucket.injectFault("storage.objects.insert", "return-403", times: 100)
        defer { try? folder.bucket.clearFaults() }
        try folder.run("fails cp /etc/hostname \"$F/new\"; fails touch \"$F/other\"")
        #expect(try folder.bucket.object(folder.object("new")) == nil)
    }

    @Test(arguments: ["return-503", "return-500", "return-429", "return-408", "return-reset-connection"])
    func aTransientFailureOfAnUploadIsRetried(instruction: String) throws {
        let folder = try Mounts.folder(on: .local)
        try folder.bucket.injectFault("storage.objects.insert", instruction, times: 1)
        try folder.run("head -c 300000 /dev/urandom >\"$T/file\"; cp \"$T/file\" \"$F/file\"")
        let stored = try #require(try folder.bucket.get(folder.object("file")))
        #expect(try (stored == local(in: folder)) as Bool)
    }

    @Test(arguments: ["return-503", "return-reset-connection", "return-broken-stream"])
    func aTransientFailureOfADownloadIsRetried(instruction: String) throws {
        let folder = try Mounts.prefix(on: .local)
        try putRandom(5_000_000, in: folder)
        try folder.run("ls -l \"$F\"")
        try folder.bucket.injectFault("storage.objects.media", instruction, times: 1)
        try folder.run("cmp \"$T/file\" \"$F/file\"")
    }

    @Test func appendedBytesAreThereOnceThoughTheBucketsAnswerIsLost() throws {
        let folder = try Mounts.prefix(on: .local)
        try putRandom(5_000_000, in: folder)
        try folder.bucket.forgetRequests()
        try folder.bucket.injectFault("storage.objects.compose", "act-then-reset-connection", times: 1)
        try folder.run("echo more | tee -a \"$T/file\" >>\"$F/file\"; cmp \"$T/file\" \"$F/file\"")
        let requests = try folder.bucket.requests()
        #expect(requests.counts["storage.objects.compose"] == 2, "\(requests)")
        let stored = try #require(try folder.bucket.get(folder.object("file")))
        #expect(try (stored == local(in: folder)) as Bool)
        // The object that carried them goes in the background.
        let end = ContinuousClock.now + .seconds(30)
        while try !folder.bucket.list(".firemount/").isEmpty, ContinuousClock.now < end {}
        #expect(try folder.bucket.list(".firemount/") == [])
    }

    @Test func aTransientFailureOfAListingIsRetried() throws {
        let folder = try Mounts.prefix(on: .local)
        try folder.bucket.put(folder.object("file"), "x")
        try folder.bucket.injectFault("storage.objects.list", "return-503", times: 2)
        try folder.run("expect \"$(ls \"$F\")\" file")
    }

    @Test(arguments: ["error-body-200", "return-403-at-finalize", "return-412"])
    func anUploadThatTheServerDidNotKeepIsNeverReportedStored(instruction: String) throws {
        let folder = try Mounts.folder(on: .local)
        try folder.bucket.put(folder.object("file"), "old")
        try folder.bucket.injectFault("storage.objects.insert", instruction, times: 100)
        try folder.run("seq 1000 >\"$T/file\"; fails cp \"$T/file\" \"$F/file\"; fails cp \"$T/file\" \"$F/new\"")
        try folder.bucket.clearFaults()
        #expect(try folder.bucket.text(folder.object("file")) == "old")
        #expect(try folder.bucket.object(folder.object("new")) == nil)
    }

    @Test func bytesThatWereDamagedOnTheWayAreNotShown() throws {
        let folder = try Mounts.prefix(on: .local)
        try putRandom(20_000, in: folder)
        try folder.bucket.injectFault("storage.objects.media", "corrupt-body", times: 1)
        // Read again until right, or refused; never shown.
        let outcome = try folder.attempt("cat \"$F/file\" >\"$T/read\" || exit 7; cmp \"$T/file\" \"$T/read\"")
        #expect(outcome.status == 0 || outcome.status == 7, "\(outcome.output)")
    }

    /// The last read fails, whichever range was damaged; what opens the file next fetches it anew.
    @Test(arguments: [0, 1, 2]) func aLargeFileThatWasDamagedOnTheWayIsAnErrorOnce(skip: Int) throws {
        let folder = try Mounts.prefix(on: .local)
        try putRandom(9_000_000, in: folder)
        try folder.bucket.injectFault("storage.objects.media", "corrupt-body", times: 1, skip: skip)
        try folder.run(
            """
            expect "$(stat -c %s "$F/file")" 9000000
            if md5sum "$F/file" >"$T/sum" 2>"$T/said"; then fail 'md5sum took damaged bytes for the file'; fi
            grep -q 'Input/output error' "$T/said" || { cat "$T/said"; fail 'another error'; }
            cmp "$T/file" "$F/file"
            """)
    }

    @Test func aPartOfADamagedFileThatTheKernelHasDoesNotStayThere() throws {
        let folder = try Mounts.prefix(on: .local)
        try putRandom(9_000_000, in: folder)
        try folder.bucket.injectFault("storage.objects.media", "corrupt-body", times: 1)
        try folder.run(
            """
            # The middle of what comes first, which is damaged; too little for the rest to be fetched ahead.
            dd if="$F/file" of=/dev/null bs=64k skip=7 count=2 status=none
            fails cat "$F/file"
            cmp "$T/file" "$F/file"
            """)
    }

    @Test func aFailedCopyCanBeRepeated() throws {
        let folder = try Mounts.folder(on: .local)
        try folder.bucket.injectFault("storage.objects.insert", "return-403", times: 1)
        try folder.run("seq 10 >\"$T/file\"; fails cp \"$T/file\" \"$F/file\"; cp \"$T/file\" \"$F/file\"")
        try folder.run("cmp \"$T/file\" \"$F/file\"")
        #expect(try folder.bucket.object(folder.object("file"))?.size == "21")
    }

    /// A new object `file` of so many bytes, which are in `$T/file` too.
    private func putRandom(_ size: Int, in folder: MountedFolder) throws {
        try folder.run("head -c \(size) /dev/urandom >\"$T/file\"")
        try folder.bucket.put(folder.object("file"), local(in: folder))
    }

    private func local(in folder: MountedFolder) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: "\(folder.scratch.path)/file"))
    }
}
