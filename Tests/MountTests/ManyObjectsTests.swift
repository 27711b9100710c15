import Foundation
import Testing

@Suite(.mounted([.local, .firebase], options: MountedBucket.watchfulOptions)) struct ManyObjectsTests {
    @Test func aFolderOf100000ObjectsListsEachNameOnceInSeconds() throws {
        let folder = try Mounts.prefix(on: .local)
        try folder.bucket.put(folder.object("f-00000"), "x")
        try folder.mounted.server.multiply(folder.object("f-00000"), prefix: folder.object("f-"), count: 99_999)
        let clock = ContinuousClock()
        let time = try clock.measure { try folder.run("ls -f \"$F\" | grep -v '^\\.' >\"$T/names\"") }
        try folder.run(
            """
            expect "$(wc -l <"$T/names")" 100000
            expect "$(sort -u "$T/names" | wc -l)" 100000
            expect "$(find "$F" -type f | wc -l)" 100000
            expect "$(cat "$F/f-31415")" x
            """)
        #expect(time < .seconds(30))
        let peak = try #require(folder.mounted.process?.peakResidentBytes)
        #expect(peak < (256 + 64) << 20, "the mount held \(peak >> 20) MiB")
    }

    /// Sizes and times would cost a question a name there.
    @Test func inFirebasesProtocolTheNamesOf20000ObjectsCostAListForEach1000() throws {
        let folder = try Mounts.prefix(on: .firebase)
        try folder.bucket.put(folder.object("f-00000"), "x")
        try folder.mounted.server.multiply(folder.object("f-00000"), prefix: folder.object("f-"), count: 19_999)
        let requests = try folder.requests { try folder.run("ls -f \"$F\" | grep -v '^\\.' >\"$T/names\"") }
        try folder.run("expect \"$(sort -u \"$T/names\" | wc -l) $(wc -l <\"$T/names\")\" '20000 20000'")
        #expect(requests.keys.sorted() == ["firebase.objects.get", "firebase.objects.list"])
        #expect((20...22).contains(requests["firebase.objects.list"] ?? 0), "\(requests)")
        #expect(requests["firebase.objects.get"] ?? 0 <= 2, "\(requests)")
    }
}
