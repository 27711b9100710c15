import Foundation
import Testing

/// What could not be stored is found again.
struct RecoverTests {
    /// Neither `HOME` nor an option leads to the cache directory: the mount does.
    @Test func whatALivingMountCouldNotStoreIsFoundWhereverItKeepsIt() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.bucket.injectFault("storage.objects.insert", "return-403", times: 100)
        try folder.run(
            """
            firemount='\(Programs.firemount)'
            fails cp /etc/hostname "$F/refused"
            "$firemount" recover "$M" | grep 'failed.*/refused' || fail 'not found by its mount point'
            "$firemount" recover gs://test-bucket | grep 'failed.*/refused' || fail 'nor by its bucket'
            id=$("$firemount" recover "$M" | sed -n 's|  *failed.*/refused.*||p')
            "$firemount" recover export "$id" "$T/out"; cmp /etc/hostname "$T/out"
            """)
    }

    /// The mount that could not store it says so at its end, the next one and `status` until it is stored; `retry`
    /// needs neither a mount nor an option to say where the bucket is.
    @Test func whatAnEarlierMountCouldNotStoreIsToldOfUntilItIsStored() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.bucket.injectFault("storage.objects.insert", "return-403", times: 100)
        let recover = "firemount recover gs://test-bucket --cache-dir \(mounted.cacheDirectory)"
        try folder.run(
            """
            fails cp /etc/hostname "$F/one"; fails cp /etc/hostname "$F/other"
            if said=$('\(Programs.firemount)' unmount "$M" 2>&1); then fail 'nothing was said at the end'; fi
            lost='\(folder.object("one")) could not be stored; \(folder.object("other")) could not be stored'
            expect "$said" "firemount: unmounted, but $lost; \(recover) lists what is kept"
            """)
        #expect(mounted.unmount() == 1)
        #expect(mounted.logs.contains("it is kept: firemount recover retry "), "\(mounted.logs)")
        try folder.bucket.clearFaults()
        let end = try folder.run(
            """
            firemount='\(Programs.firemount)'; export NO_GCE_CHECK=true
            recover() { "$firemount" recover "$@" --cache-dir '\(mounted.cacheDirectory)'; }
            id() { recover | sed -n "s|  *failed.*/$1 .*||p"; }
            recover retry "$(id one)"
            said=$("$firemount" mount gs://test-bucket "$M" --anonymous --endpoint '\(mounted.server.url)' \
                --cache-dir '\(mounted.cacheDirectory)' 2>&1)
            expect "$said" 'firemount: 1 file that could not be stored earlier is kept: \(recover)'
            if said=$("$firemount" status "$M"); then fail 'all seems well'; fi
            grep -qxF "  1 file that could not be stored is kept: firemount recover $M" <<<"$said" || fail "$said"
            ("$firemount" status --json "$M" || true) | python3 -c '
            import json, sys
            mount, = json.load(sys.stdin)
            assert mount["status"]["kept"] == 1 and mount["recover"].startswith("firemount recover /"), mount
            '
            "$firemount" recover retry "$(id other)"
            "$firemount" status "$M"
            "$firemount" unmount "$M"
            """)
        #expect(end.hasSuffix("on \(mounted.directory): no uploads\n"), "\(end)")
        let name = try String(contentsOfFile: "/etc/hostname", encoding: .utf8)
        #expect(try folder.bucket.text(folder.object("one")) == name)
        #expect(try folder.bucket.text(folder.object("other")) == name)
    }

    @Test func whereNothingIsFoundItIsSaidWhereThatWas() throws {
        let mounted = try MountedBucket(on: .local)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        let listed = try folder.run(
            """
            '\(Programs.firemount)' recover "$M"
            '\(Programs.firemount)' recover "$M" --cache-dir "$T/other"
            """)
        let (first, second) = try { try ($0[0], #require($0.last)) }(listed.split(separator: "\n"))
        #expect(first.hasPrefix("Nothing is waiting in \(folder.scratch.path)/.cache/firemount"), "\(listed)")
        #expect(first.contains(" or \(mounted.cacheDirectory);"), "\(listed)")
        #expect(second.hasPrefix("Nothing is waiting in \(folder.scratch.path)/other;"), "\(listed)")
        let missing = try folder.attempt("'\(Programs.firemount)' recover \"$T/nope\"")
        #expect(missing.output.contains("nothing is mounted at \(folder.scratch.path)/nope"), "\(missing.output)")
    }
}
