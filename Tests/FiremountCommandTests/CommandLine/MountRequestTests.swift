import CloudStores
import Logging
import Testing

@testable import firemount

struct MountRequestTests {
    @Test func theLineThatScriptsRelyOnIsUnderstood() throws {
        let request = try mountRequest(
            "mount gs://bucket dir --foreground --anonymous --endpoint http://127.0.0.1:9199 --metadata-ttl 2s "
                + "--cache-dir c"
        )

        var settings = MountSettings()
        settings.isForeground = true
        settings.isAnonymous = true
        settings.endpoint = try ServiceEndpoint(parsing: "http://127.0.0.1:9199")
        settings.metadataTTL = .seconds(2)
        settings.cacheDirectory = TypedPath(spelling: "c")
        #expect(request.bucket.bucket == "bucket")
        #expect(request.mountPoint.text == "dir")
        #expect(request.settings == settings)
    }

    @Test func everyOptionHasThreeSpellings() throws {
        for option in MountSettings.options where option.isMountOption {
            let value = try #require(
                option.placeholder == nil ? "" : values[option.name], "--\(option.name) is not tried")
            let item = option.placeholder == nil ? option.name : "\(option.name)=\(value)"
            let underscored = String(item.map { $0 == "-" ? "_" : $0 })
            var typed = MountSettings()
            try option.apply(option.placeholder == nil ? nil : value, to: &typed)

            #expect(try mountRequest("mount b d --\(item)").settings == typed)
            #expect(try mountRequest("mount b d -o \(item)").settings == typed)
            #expect(try mountRequest("mount b d -o rw,\(underscored),nofail").settings == typed)
            #expect(typed != MountSettings())
        }
    }

    @Test(arguments: [
        "gs://b d -f", "-f gs://b d", "mount b d -f", "mount -f b d", "mount b -f -- d", "mount --foreground -- b d",
    ])
    func optionsMayStandAnywhereAndMountIsImplied(line: String) throws {
        let request = try mountRequest(line)
        #expect(request.settings.isForeground)
        #expect(request.bucket.bucket == "b")
        #expect(request.mountPoint.text == "d")
    }

    @Test func afterTwoDashesNothingIsAnOption() throws {
        #expect(try mountRequest("mount b -- --foreground").mountPoint.text == "--foreground")
    }

    @Test func lettersMayBeJoined() throws {
        let settings = try mountRequest("mount b d -foro").settings
        #expect(settings.isForeground)
        #expect(settings.isReadOnly)
    }

    @Test func theLastOfTwoValuesHolds() throws {
        #expect(try mountRequest("mount b d --metadata-ttl 1s -o metadata_ttl=3s").settings.metadataTTL == .seconds(3))
        #expect(try mountRequest("mount b d -o ro,rw").settings.isReadOnly == false)
    }

    @Test(arguments: [
        ("mount b d --wat", "unknown option --wat"),
        ("mount b d --metadata-tll 2s", "did you mean --metadata-ttl?"),
        ("mount b d -z", "unknown option -z"),
        ("mount b d --metadata-ttl 2", "'2' is no value for --metadata-ttl; accepted: a number and its unit"),
        ("mount b d --memory-limit lots", "'lots' is no value for --memory-limit; accepted: a number of bytes"),
        ("mount b d --memory-limit 1MiB", "the least is 16MiB"),
        ("mount b d --timeout 0", "--timeout 0"),
        ("mount b d --file-mode 999", "'999' is no value for --file-mode; accepted: permission bits in octal"),
        ("mount b d --endpoint ftp://h", "'ftp://h' is no value for --endpoint; accepted: the root of a service"),
        ("mount b d --uid root", "'root' is no value for --uid"),
        ("mount b d --log-level loud", "accepted: error, warning, info, debug, trace"),
        ("mount b d --protocol ftp", "'ftp' is no value for --protocol; accepted: auto, firebase or gcs"),
        ("mount b d --user --anonymous", "--user and --anonymous exclude each other"),
        ("mount b d --user --protocol gcs", "--user speaks the firebase protocol"),
        ("mount b d --protocol firebase --key-file k", "--key-file is for the gcs protocol"),
        ("mount b d --cache-dir", "--cache-dir needs a value"),
        ("mount b d --anonymous=yes", "--anonymous takes no value"),
        ("mount b d --anonymous --key-file k", "--anonymous and --key-file exclude each other"),
        ("mount b d -o key_file=k,token_file=t", "--key-file and --token-file exclude each other"),
        ("mount b d -o allow_otter", "unknown mount option 'allow_otter'; did you mean allow-other?"),
        ("mount b d -o remount", "unmount it"),
        ("mount b d -o options=ro", "unknown mount option 'options'"),
        ("mount b d --write-back=yes", "--write-back takes no value"),
        ("mount b d --cache-size 1G", "unknown option --cache-size"),
        ("mount", "no bucket is named"),
        ("mount b", "no mount point is named"),
        ("mount b d e", "'e' is one word too many"),
        ("mount d gs://b", "the bucket comes first"),
    ])
    func mistakesAreNamed(line: String, message: String) throws {
        let error = #expect(throws: UsageError.self) { try mountRequest(line) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.usage?.isEmpty == false)
    }

    @Test func aMistakeInAValueShowsThatOptionsUsage() {
        let error = #expect(throws: UsageError.self) { try mountRequest("mount b d -o metadata_ttl=soon") }
        #expect(error?.usage?.hasPrefix("--metadata-ttl D ") == true)
    }

    /// A good value, other than none at all, for each option that takes one.
    private let values = [
        "endpoint": "http://h:1", "protocol": "gcs", "key-file": "/k", "token-file": "/t", "timeout": "9s",
        "metadata-ttl": "2s", "negative-ttl": "0", "cache-dir": "/c", "staging-limit": "1GiB", "memory-limit": "64MiB",
        "uid": "1", "gid": "2",
        "file-mode": "0600", "dir-mode": "0700", "umask": "077", "log-level": "debug", "log-file": "/l",
        "log-format": "json",
    ]
}

/// The mount that `firemount LINE` asks for.
func mountRequest(_ line: String) throws -> MountRequest {
    let words = ["firemount"] + line.split(separator: " ").map(String.init)
    guard case .mount(let request) = try Invocation(parsing: words) else { throw UsageError("\(line) is no mount") }
    return request
}
