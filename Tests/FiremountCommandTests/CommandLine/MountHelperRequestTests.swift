import Testing

@testable import firemount

struct MountHelperRequestTests {
    @Test func aLineOfFstabIsUnderstood() throws {
        let request = try helperRequest(
            "gs://bucket/p", "/mnt/b", "-n", "-o",
            "rw,_netdev,nofail,allow_other,key_file=/etc/key.json,metadata_ttl=2s")
        #expect(request.mount.bucket.url == "gs://bucket/p")
        #expect(request.mount.mountPoint.text == "/mnt/b")
        #expect(request.mount.settings.allowsOther)
        #expect(request.mount.settings.keyFile?.text == "/etc/key.json")
        #expect(request.mount.settings.metadataTTL == .seconds(2))
        #expect(!request.isFake)
    }

    @Test func wordsForMountAndInitAreSwallowed() throws {
        let words =
            "defaults,rw,auto,noauto,user,user=ann,nouser,users,owner,group,_netdev,no_netdev,nofail,exec,suid,dev,"
            + "async,relatime,x-systemd.automount,x-systemd.requires=network-online.target,X-mount.mkdir,comment=cloud"
        #expect(try helperRequest("b", "/m", "-o", words).mount.settings == MountSettings())
    }

    @Test func flagsOfTheKernelAreHandedOn() throws {
        let settings = try helperRequest("b", "/m", "-o", "noexec,nosuid,nodev,noatime").mount.settings
        #expect(settings.kernelFlags == ["noexec", "nosuid", "nodev", "noatime"])
    }

    @Test func escapedCommasBelongToTheValue() throws {
        let settings = try helperRequest("b", "/m", "-o", #"cache_dir=/a\,b\\c,ro"#).mount.settings
        #expect(settings.cacheDirectory?.text == #"/a,b\c"#)
        #expect(settings.isReadOnly)
    }

    @Test func otherBackslashesStayAsTheyAre() {
        let list = MountOptionList(#"a=\x,b=c\"#)
        #expect(list.items == [.init(name: "a", value: #"\x"#), .init(name: "b", value: #"c\"#)])
    }

    @Test func emptyItemsAreSkippedAndValuesMayHoldEqualSigns() {
        #expect(MountOptionList(",a,,b=c=d,").items == [.init(name: "a", value: nil), .init(name: "b", value: "c=d")])
    }

    @Test func unknownOptionsAreRefusedUnlessSloppy() throws {
        #expect(throws: UsageError.self) { try helperRequest("b", "/m", "-o", "wat") }
        #expect(try helperRequest("b", "/m", "-s", "-o", "wat,ro").mount.settings.isReadOnly)
    }

    @Test func sloppyStillRefusesWrongValues() {
        #expect(throws: UsageError.self) { try helperRequest("b", "/m", "-s", "-o", "metadata_ttl=soon") }
    }

    @Test func fakeChecksTheLineAndMountsNothing() throws {
        #expect(try Invocation(parsing: ["/sbin/mount.firemount", "b", "/m", "-fnv", "-o", "ro"]) == .checkedMount)
    }

    @Test(arguments: ["--help", "-h"])
    func itHasHelpToo(word: String) throws {
        #expect(try Invocation(parsing: ["/sbin/mount.firemount", word]) == .help(.mount))
    }

    @Test func typeAndNamespaceAreAccepted() throws {
        #expect(try helperRequest("b", "/m", "-t", "firemount", "-N", "/proc/1/ns/mnt").mount.mountPoint.text == "/m")
    }

    private func helperRequest(_ words: String...) throws -> MountHelperRequest {
        try MountHelperRequest(parsing: words)
    }
}
