import Testing

@testable import FUSEBridge

struct MountOptionsTests {
    @Test func commasInTheSourceDoNotEndTheOption() {
        let options = MountOptions(mountPoint: "/mnt", source: #"gs://bucket/a,b\c"#)
        #expect(
            options.sessionArguments == ["firemount", "-o", #"fsname=gs://bucket/a\,b\\c"#, "-o", "subtype=firemount"])
    }

    @Test func aSharedMountHasItsModesChecked() {
        let options = MountOptions(mountPoint: "/mnt", source: "gs://bucket", allowsOther: true)
        #expect(options.sessionArguments.suffix(4) == ["-o", "allow_other", "-o", "default_permissions"])
    }

    @Test func aPrivateMountDoesNotHaveItsModesCheckedUnasked() {
        let options = MountOptions(
            mountPoint: "/mnt", source: "gs://bucket", isReadOnly: true, kernelOptions: ["noatime"])
        #expect(options.sessionArguments.suffix(4) == ["-o", "ro", "-o", "noatime"])
    }

    @Test func anOptionIsNotGivenTwice() {
        let options = MountOptions(
            mountPoint: "/mnt", source: "gs://bucket", allowsOther: true, kernelOptions: ["default_permissions"])
        #expect(options.sessionArguments.filter { $0 == "default_permissions" }.count == 1)
    }
}
