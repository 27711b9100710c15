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
        #expect(first.hasPrefix("Nothing is waiting in \(folder.scratch.path)/.cache/firemount or "), "\(listed)")
        #expect(first.contains(" or \(mounted.cacheDirectory);"), "\(listed)")
        #expect(second.hasPrefix("Nothing is waiting in \(folder.scratch.path)/other;"), "\(listed)")
        let missing = try folder.attempt("'\(Programs.firemount)' recover \"$T/nope\"")
        #expect(missing.output.contains("nothing is mounted at \(folder.scratch.path)/nope"), "\(missing.output)")
    }
}
