import Foundation

/// One test's room: a folder of a mounted bucket, and a local folder beside it.
struct MountedFolder {
    let name: String
    let mounted: MountedBucket
    let scratch: TemporaryFolder

    init(name: String, mounted: MountedBucket) throws {
        self.name = name
        self.mounted = mounted
        scratch = try TemporaryFolder("scratch")
    }

    var path: String { "\(mounted.directory)/\(name)" }
    var bucket: OtherClient { mounted.bucket }

    /// The object's name of a path below this folder.
    func object(_ path: String) -> String { "\(name)/\(path)" }

    /// Runs a bash script that fails at the first failing command. `$F` is the folder, `$T` the local one, `$M` the
    /// mount point. Answers what it printed.
    @discardableResult
    func run(_ script: String, limit: Duration = .seconds(240)) throws -> String {
        let outcome = try attempt(script, limit: limit)
        guard outcome.status == 0 else {
            let said = "— output —\n\(outcome.output)\n\(mounted.logs)"
            throw ToolFailure(description: "status \(outcome.status) from:\n\(script)\n\(said)")
        }
        return outcome.output
    }

    /// The same for a script that may fail.
    func attempt(_ script: String, limit: Duration = .seconds(240)) throws -> Tool.Outcome {
        let environment = [
            "F": path, "T": scratch.path, "M": mounted.directory, "LC_ALL": "C.UTF-8", "HOME": scratch.path,
            "GIT_CONFIG_NOSYSTEM": "1", "TZ": "UTC", "PATH": "/usr/bin:/usr/sbin:/bin:/sbin",
        ]
        return try Tool(environment: environment, limit: limit)
            .run(["/bin/bash", "-euo", "pipefail", "-c", ShellWords.all + script])
    }

    /// The same folder seen by a mount that has nothing cached.
    @discardableResult
    func seenAfresh<Result>(_ body: (MountedFolder) throws -> Result) throws -> Result {
        let again = try MountedBucket(again: mounted)
        defer { again.tearDown() }
        return try body(try MountedFolder(name: name, mounted: again))
    }
}

/// What the scripts of the tests have in common.
enum ShellWords {
    static let all = """
        # make_tree FOLDER COUNT: small files in folders three deep at most, with old times, some modes, some links.
        make_tree() {
            python3 - "$1" "$2" <<'PYTHON'
        import os, random, sys
        folder, count = sys.argv[1], int(sys.argv[2])
        chance = random.Random(count)
        for number in range(count):
            parents = [f"d{chance.randrange(3)}" for _ in range(chance.randrange(4))]
            path = os.path.join(folder, *parents, f"f{number}.txt")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file: file.write(chance.randbytes(chance.choice([0, 1, 100, 3000, 9000])))
            os.chmod(path, chance.choice([0o644, 0o600, 0o755]))
            if number % 50 == 0: os.symlink(f"f{number}.txt", path + ".link")
            os.utime(path, ns=(10**18, 10**18 + chance.randrange(10**17)))
        for parent, _, _ in os.walk(folder, topdown=False): os.utime(parent, (10**9, 10**9))
        PYTHON
        }
        fail() { echo "FAILED: $*" >&2; exit 1; }
        expect() { [ "$1" = "$2" ] || fail "${3:-expected} '$2', found '$1'"; }
        fails() { if "$@" >/dev/null 2>&1; then fail "should have failed: $*"; fi; }
        # Until the signal has reached the last thread of process $1, one may go on.
        until_stopped() {
            while grep -h '^State:' /proc/$1/task/*/status | grep -qv 'T (stopped)'; do sleep 0.02; done
        }
        freeze() { kill -STOP $1; until_stopped $1; }

        """
}
