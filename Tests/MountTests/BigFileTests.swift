import Testing

/// Files larger than memory limits and windows. fake-gcs-server holds them in memory several times over, and takes
/// 20 MB a second.
@Suite(.mounted()) struct BigFileTests {
    @Test(arguments: [(Server.local, 2048), (.fakeGCS, 512), (.firebase, 400)])
    func aBigFileGoesInAndOutUnchanged(server: Server, mebibytes: Int) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            # Random bytes would take longer to make than to copy; these differ from block to block all the same.
            head -c \(mebibytes)M /dev/zero | openssl enc -aes-128-ctr -K 00112233445566778899aabbccddeeff -iv 00 |
                tee "$T/big" | sha256sum >"$T/sum"
            cp "$T/big" "$F/big"; rm "$T/big"
            expect "$(stat -c %s "$F/big")" $((\(mebibytes) << 20))
            """)
        try folder.seenAfresh { afresh in
            try afresh.run("sha256sum <\"$F/big\" | diff - '\(folder.scratch.path)/sum'")
            let peak = try #require(afresh.mounted.process?.peakResidentBytes)
            #expect(peak < (256 + 64) << 20, "the mount held \(peak >> 20) MiB")
        }
        let peak = try #require(folder.mounted.process?.peakResidentBytes)
        #expect(peak < (256 + 64) << 20, "the mount held \(peak >> 20) MiB")
        try folder.run("rm \"$F/big\"")
    }

    @Test(arguments: Server.allCases)
    func manyReadersOfOneFileAllSeeItsBytes(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run("head -c 60M /dev/urandom >\"$T/file\"; cp \"$T/file\" \"$F/file\"")
        try folder.seenAfresh { afresh in
            try afresh.run(
                """
                local='\(folder.scratch.path)/file'; pids=()
                for i in 1 2 3 4; do cmp "$F/file" "$local" & pids+=($!); done
                for i in 1 2 3 4; do
                    at=$((i * 13000000 + i)); cmp <(tail -c +$at "$F/file") <(tail -c +$at "$local") & pids+=($!)
                done
                python3 - "$F/file" "$local" <<'PYTHON' & pids+=($!)
                import os, random, sys
                chance = random.Random(3)
                mounted, local = (os.open(path, os.O_RDONLY) for path in sys.argv[1:])
                for step in range(400):
                    offset, count = chance.randrange(60 << 20), chance.choice([1, 4096, 5000, 200_000])
                    assert os.pread(mounted, count, offset) == os.pread(local, count, offset), (offset, count)
                PYTHON
                for pid in "${pids[@]}"; do wait "$pid"; done
                """)
        }
    }
}
