import Foundation

/// Something people do with ordinary tools, small enough to be repeated thousands of times. It runs on a mount and on a
/// local folder; what the local folder then holds is what the bucket must hold.
struct Workload: Sendable, CustomStringConvertible {
    let description: String
    /// Files that are there before.
    var before: [String: Data] = [:]
    /// What to run: `$F` is the folder, `$T` a local one with `small`, `large`, `tree/` and `tree.tar` in it. Status
    /// 66: the tool was shown something wrong. The shell's own `echo` would not tell that a close failed.
    let script: String

    /// More than goes in one request.
    static let largeSize = 9 << 20

    static let all: [Workload] = [
        Workload(description: "create", script: #"cp "$T/small" "$F/new""#),
        Workload(description: "create large", script: #"cp "$T/large" "$F/new""#),
        Workload(description: "create by redirection", script: #"/bin/echo text >"$F/new""#),
        Workload(description: "overwrite", before: small, script: #"cat "$T/small" >"$F/file""#),
        Workload(description: "overwrite by cp", before: small, script: #"cp "$T/large" "$F/file""#),
        Workload(description: "append", before: small, script: #"/bin/echo more >>"$F/file""#),
        Workload(description: "append to large", before: large, script: #"/bin/echo more >>"$F/large""#),
        Workload(
            description: "edit in place", before: large,
            script: #"printf x | dd of="$F/large" conv=notrunc bs=1 seek=5000000 status=none"#),
        Workload(description: "cut", before: large, script: #"truncate -s 5 "$F/large""#),
        Workload(description: "grow", before: small, script: #"truncate -s 100000 "$F/file""#),
        Workload(description: "set times", before: small, script: #"touch -d 2001-01-01 "$F/file""#),
        Workload(description: "set mode", before: small, script: #"chmod 600 "$F/file""#),
        Workload(description: "rename", before: small, script: #"mv "$F/file" "$F/other""#),
        Workload(
            description: "rename over", before: small.merging(large) { $1 }, script: #"mv -f "$F/file" "$F/large""#),
        Workload(description: "rename folder", before: tree, script: #"mv "$F/tree" "$F/moved""#),
        Workload(description: "remove", before: small, script: #"rm "$F/file""#),
        Workload(description: "remove folder", before: tree, script: #"rm -r "$F/tree""#),
        Workload(description: "make folders", script: #"mkdir -p "$F/a/b/c"; /bin/echo x >"$F/a/b/c/file""#),
        Workload(description: "remove empty folder", before: small, script: #"mkdir "$F/empty"; rmdir "$F/empty""#),
        Workload(description: "link", before: small, script: #"ln -s file "$F/link"; cat "$F/link" >/dev/null"#),
        Workload(description: "rsync", script: #"rsync -a "$T/tree/" "$F/copy/""#),
        Workload(description: "rsync again", before: tree, script: #"rsync -a --checksum "$T/tree/" "$F/tree/""#),
        Workload(description: "tar", script: #"tar -C "$F" -xf "$T/tree.tar""#),
        Workload(description: "sed", before: small, script: #"sed -i 's/^/>/' "$F/file""#),
        Workload(description: "copy inside", before: large, script: #"cp "$F/large" "$F/copy""#),
        Workload(description: "copy tree inside", before: tree, script: #"cp -r "$F/tree" "$F/copy""#),
        Workload(
            description: "read", before: large,
            script: #"cat "$F/large" >"$T/read" || exit 7; cmp "$T/large" "$T/read" || exit 66"#),
        Workload(
            description: "read in the middle", before: large,
            script: """
                tail -c +7000001 "$F/large" >"$T/read" || exit 7
                # A part has no checksum: who reads on to the whole hears of it (docs/SEMANTICS.md, reading).
                cat "$F/large" >"$T/whole" || exit 7
                tail -c +7000001 "$T/large" | cmp - "$T/read" || exit 66
                cmp "$T/large" "$T/whole" || exit 66
                """),
        Workload(
            description: "list", before: tree,
            script: """
                (cd "$F/tree" && find . -type f | sort) >"$T/found" || exit 7
                (cd "$T/tree" && find . -type f | sort) | cmp - "$T/found" || exit 66
                """),
        Workload(
            description: "write and sync",
            script: """
                python3 -c 'import os, sys
                file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
                os.write(file, b"x" * 300000)
                os.fsync(file)
                os.close(file)' "$F/new"
                """),
        Workload(
            description: "write a mapping", before: large,
            script: """
                python3 -c 'import mmap, os, sys
                file = os.open(sys.argv[1], os.O_RDWR)
                with mmap.mmap(file, 0) as map:
                    map[1000:1005] = b"hello"
                    map.flush()
                os.close(file)' "$F/large"
                """),
    ]

    private static let small = ["file": Data("what was there before\nand more of it\n".utf8)]
    private static let large = ["large": pattern(largeSize, 7)]
    private static var tree: [String: Data] {
        Dictionary(uniqueKeysWithValues: treeFiles.map { ("tree/" + $0.key, $0.value) })
    }

    static let treeFiles: [String: Data] = [
        "one.txt": pattern(10, 1), "two.bin": pattern(5_000, 2), "in/three": pattern(300, 3), "in/deeper/four": Data(),
    ]

    /// Bytes that are the same each time, no two blocks of them alike.
    static func pattern(_ count: Int, _ start: UInt8) -> Data {
        var bytes = Data(capacity: count + 4_096)
        var number: UInt32 = 0
        let block = Data((0..<4_092).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 2) &+ start })
        while bytes.count < count {
            number += 1
            bytes.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
            bytes.append(block)
        }
        return bytes.prefix(count)
    }
}

/// How a request goes wrong (docs/PROTOCOL.md, faults).
enum RequestFault {
    static let all = [
        "refuse-connections-for-150ms", "return-reset-connection", "act-then-reset-connection", "return-408",
        "return-429,retry-after-1s", "return-500", "return-503", "return-401", "return-403", "return-404", "return-412",
        "return-broken-stream", "truncate-body-10B", "corrupt-body", "error-body-200", "stall-for-4s",
    ]
}
