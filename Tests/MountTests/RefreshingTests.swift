import Foundation
import Testing

/// `firemount refresh`: what is cached for minutes is forgotten at once, in the kernel too.
@Suite(.mounted(options: ["--metadata-ttl", "1h", "--negative-ttl", "1h"])) struct RefreshingTests {
    @Test(arguments: Server.allCases)
    func whatOthersChangedShowsAtOnce(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        for name in ["f", "gone", "sub/g", "vanished/h"] { try folder.bucket.put(folder.object(name), "old") }
        try folder.run(
            """
            '\(Programs.firemount)' refresh "$M"
            expect "$(cat "$F/f" "$F/sub/g")" oldold
            ls -lR "$F"; stat "$F/vanished"; fails cat "$F/new"
            """)
        for name in ["f", "new", "sub/g", "sub/i"] { try folder.bucket.put(folder.object(name), "newer") }
        for name in ["gone", "vanished/h"] { try folder.bucket.delete(folder.object(name)) }
        try folder.run(
            """
            expect "$(cat "$F/f" "$F/sub/g")" oldold 'cached for an hour:'
            cd "$F/sub"
            '\(Programs.firemount)' refresh "$F"
            expect "$(pwd -P)" "$F/sub"
            expect "$(cat "$F/f" "$F/new" "$F/sub/g" i)" newernewernewernewer
            fails cat "$F/gone"
            fails ls "$F/vanished"
            """)
    }

    @Test(arguments: Server.allCases)
    func aFileAndANameThatWasMissedAreRefreshedByThemselves(server: Server) throws {
        let folder = try Mounts.prefix(on: server)
        try folder.bucket.put(folder.object("f"), "old")
        try folder.run("'\(Programs.firemount)' refresh \"$M\"; expect \"$(cat \"$F/f\")\" old; fails cat \"$F/new\"")
        for name in ["f", "new"] { try folder.bucket.put(folder.object(name), "newer") }
        try folder.run(
            """
            '\(Programs.firemount)' refresh "$F/f"; expect "$(cat "$F/f")" newer
            '\(Programs.firemount)' refresh "$F/new"; expect "$(cat "$F/new")" newer
            """)
    }

    @Test(arguments: Server.allCases)
    func unsavedBytesSurvive(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            exec 4>"$F/open"; echo unsaved >&4
            '\(Programs.firemount)' refresh "$F"
            expect "$(cat "$F/open")" unsaved
            echo more >&4; exec 4>&-
            """)
        #expect(try folder.bucket.text(folder.object("open")) == "unsaved\nmore\n")
    }

    @Test func whatIsNoMountIsNamed() throws {
        let folder = try Mounts.folder(on: .local)
        let outcome = try folder.attempt("'\(Programs.firemount)' refresh \"$T\"")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("no firemount mount"), "\(outcome.output)")
    }
}
