import Foundation
import Testing

/// Mounts that outlive the command that made them, and the helper of mount(8).
@Suite struct BackgroundMountTests {
    private let folder: TemporaryFolder
    private let server: RunningServer
    private let bucket: OtherClient

    init() throws {
        folder = try TemporaryFolder("background")
        server = try RunningServer(.local, folder: folder.path)
        bucket = OtherClient(server: server.url, bucket: RunningServer.bucketName)
        for name in ["mount", "sbin"] { _ = try folder.subfolder(name) }
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/sbin/mount.firemount", withDestinationPath: Programs.firemount)
    }

    @Test func theCommandReturnsOnceTheMountAnswersAndLetsGoOfTheTerminal() throws {
        try bucket.put("there", "content")
        // `$(…)` ends only when nobody holds its pipe any more.
        try run(
            """
            said=$(firemount mount "$B" "$M" $OPTIONS 2>&1)
            [ -z "$said" ]
            [ "$(cat "$M/there")" = content ]
            cd / && echo new >"$M/new"
            firemount unmount "$M"
            ! mountpoint -q "$M"
            """)
        #expect(try bucket.text("new") == "new\n")
    }

    @Test func relativePathsMeanTheDirectoryTheCommandWasStartedIn() throws {
        try run(
            """
            cd "$T"
            firemount gs://test-bucket mount --anonymous --endpoint "$U" --cache-dir my-cache --log-file my-log \
                --log-level info
            mountpoint -q "$M"; [ -d my-cache/staging ]
            pgrep -x firemount -a | grep -F "$U"
            firemount unmount mount
            grep -q 'is mounted on' my-log
            """)
    }

    @Test func aFailureOfTheBackgroundProcessIsTheCommands() throws {
        try run(
            """
            if said=$(firemount mount gs://no-such-bucket "$M" $OPTIONS 2>&1); then exit 1; fi
            [[ $said == *gs://no-such-bucket* ]]
            [ "$(ls -A "$T/cache/staging")" = "" ]
            """)
    }

    @Test func anEmulatorOfTheEnvironmentReachesTheMount() throws {
        try run(
            """
            export STORAGE_EMULATOR_HOST=${U#http://}
            firemount mount "$B" "$M" --cache-dir "$T/cache"
            echo x >"$M/through-emulator"
            firemount unmount "$M"
            """)
        #expect(try bucket.text("through-emulator") == "x\n")
    }

    @Test func theHelperOfMountNeedsNoEnvironment() throws {
        try run(
            """
            env -i "$T/sbin/mount.firemount" "$B" "$M" -n -o \
                "rw,_netdev,nofail,user=ann,anonymous,endpoint=$U,cache_dir=$T/cache,allow_other,noexec"
            grep -F " $M fuse.firemount " /proc/mounts | grep noexec | grep allow_other
            echo x >"$M/through-fstab"
            env -i "$F" unmount "$M"
            """)
        #expect(try bucket.text("through-fstab") == "x\n")
    }

    @Test func theHelperOfMountOnlyChecksWhenAskedTo() throws {
        try run(
            """
            "$T/sbin/mount.firemount" "$B" "$M" -f -o anonymous
            ! mountpoint -q "$M"
            ! "$T/sbin/mount.firemount" "$B" "$M" -f -o wat 2>/dev/null
            """)
    }

    @Test func unmountNamesWhoIsInTheWay() throws {
        try run(
            """
            firemount mount "$B" "$M" $OPTIONS
            (cd "$M"; exec sleep 60) & sleeper=$!
            until [ "$(readlink /proc/$sleeper/cwd)" = "$M" ]; do sleep 0.01; done
            if said=$(firemount unmount "$M" 2>&1); then exit 1; fi
            kill $sleeper; wait $sleeper || true
            [[ $said == *"busy: "*"sleep (process $sleeper)"* ]] || { echo "$said"; exit 1; }
            firemount unmount "$M"
            """)
    }

    @Test func whatIsMountedCanBeUnmountedByOthersToo() throws {
        try run(
            """
            firemount mount "$B" "$M" $OPTIONS
            echo x >"$M/x"
            umount "$M"
            ! mountpoint -q "$M"
            """)
        #expect(try bucket.text("x") == "x\n")
    }

    @Test func aDeadMountIsRemovedByUnmountAndByMount() throws {
        try run(
            """
            for way in unmount mount; do
                firemount mount "$B" "$M" $OPTIONS --log-file "$T/log"
                process=$(pgrep -n -f "^[^ ]*firemount mount $B $M ")
                kill -KILL "$process"
                while kill -0 "$process" 2>/dev/null; do sleep 0.01; done
                ! ls "$M" 2>/dev/null
                [ $way = unmount ] || firemount mount "$B" "$M" $OPTIONS
                firemount unmount "$M"
            done
            """)
    }

    @Test func twoSignalsEndAForegroundMountInOrder() throws {
        try run(
            """
            "$F" mount "$B" "$M" $OPTIONS --foreground & process=$!
            until mountpoint -q "$M"; do sleep 0.01; done
            exec 5>"$M/open"; echo unsaved >&5
            kill -TERM $process; kill -TERM $process
            wait $process
            ! mountpoint -q "$M"; [ "$(ls -A "$T/cache/staging")" = "" ]
            """)
        #expect(try bucket.text("open") == "unsaved\n")
    }

    @Test func serveEndsWithSuccessAndKeepsItsBuckets() throws {
        try run(
            """
            for turn in 1 2; do
                "$F" serve --data "$T/kept" --port 0 --bucket first --bucket other >"$T/said" & process=$!
                until grep -qs "^Mount it:" "$T/said"; do sleep 0.01; done
                url=$(sed -n 's|^Serving .* on \\(http://127.0.0.1:[0-9]*\\) .*|\\1|p' "$T/said")
                grep -qx "Mount it: firemount gs://first DIRECTORY --anonymous --endpoint $url" "$T/said"
                upload=$url/upload/storage/v1/b/first/o
                [ $turn = 2 ] || curl -sf -o /dev/null --data-binary x "$upload?uploadType=media&name=o"
                [ "$(curl -sf "$url/storage/v1/b/first/o/o?alt=media")" = x ]
                kill -TERM $process; wait $process; rm -f "$T/said"
            done
            """)
    }

    @Test func theDemoCleansUpBehindItself() throws {
        try run(
            """
            export TMPDIR=$T/tmp; mkdir "$TMPDIR"
            "$F" demo "$T/new/place" >"$T/said" & process=$!
            until grep -qs Ctrl-C "$T/said"; do sleep 0.01; done
            [ "$(cat "$T/new/place/notes/monday.txt" | wc -l)" = 1 ]
            echo mine >"$T/new/place/mine"
            kill -TERM $process; wait $process
            [ ! -e "$T/new/place" ] && [ "$(ls -A "$TMPDIR")" = "" ]
            """)
    }

    /// - Parameter script: bash, ended by the first command that fails. `firemount` is the command, `F` its path, `B`
    ///   the bucket, `M` the mount point, `U` the server, `T` a directory, `OPTIONS` those that a mount here needs.
    private func run(_ script: String, line: SourceLocation = #_sourceLocation) throws {
        let environment = [
            "F": Programs.firemount, "B": "gs://\(RunningServer.bucketName)", "M": "\(folder.path)/mount",
            "U": server.url,
            "T": folder.path, "OPTIONS": "--anonymous --endpoint \(server.url) --cache-dir \(folder.path)/cache",
        ]
        let prologue = """
            firemount() { "$F" "$@"; }
            trap '! mountpoint -q "$M" || umount -l "$M"' EXIT
            trap 'echo "line $((LINENO - 4)): $BASH_COMMAND"' ERR

            """
        let outcome = try Tool(environment: environment, limit: .seconds(60)).run(
            ["bash", "-euo", "pipefail", "-c", prologue + script])
        #expect(outcome.status == 0, "\(outcome.output)", sourceLocation: line)
    }
}
