import Testing

/// What people do with files all day, done on a mounted bucket.
@Suite(.mounted()) struct OrdinaryToolsTests {
    @Test(arguments: Server.allCases)
    func aCopiedTreeReadsBackEqual(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            make_tree "$T/tree" 1500
            cp -r "$T/tree" "$F/"
            diff -r --no-dereference "$T/tree" "$F/tree"
            """)
        try folder.seenAfresh { afresh in
            try afresh.run("diff -r --no-dereference '\(folder.scratch.path)/tree' \"$F/tree\"")
        }
    }

    @Test(arguments: Server.allCases)
    func rsyncTransfersNothingTheSecondTime(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        let second = """
            rsync -a --stats "$SOURCE/" "$F/copy/" >"$T/stats"
            grep -q 'Number of regular files transferred: 0$' "$T/stats" || { cat "$T/stats"; fail 'files sent again'; }
            rsync -ani --delete "$SOURCE/" "$F/copy/" >"$T/changes"
            [ ! -s "$T/changes" ] || { head "$T/changes"; fail 'rsync sees changes'; }

            """
        try folder.run("SOURCE=\"$T/tree\"\nmake_tree \"$T/tree\" 300\nrsync -a \"$T/tree/\" \"$F/copy/\"\n" + second)
        try folder.seenAfresh { try $0.run("SOURCE='\(folder.scratch.path)/tree'\n" + second) }
    }

    @Test(arguments: Server.allCases)
    func rsyncNoticesAChangeOfTheSameSize(server: Server) throws {
        try Mounts.folder(on: server).run(
            """
            mkdir "$T/a"; echo one >"$T/a/file"; touch -d 2001-01-01 "$T/a/file"
            rsync -a "$T/a/" "$F/a/"
            echo two >"$T/a/file"; touch -d 2001-01-02 "$T/a/file"
            rsync -a "$T/a/" "$F/a/"
            expect "$(cat "$F/a/file")" two
            dd if=/dev/urandom of="$T/a/big" bs=1M count=8 status=none
            rsync -a --inplace "$T/a/" "$F/a/"
            printf X | dd of="$T/a/big" bs=1 seek=4000000 conv=notrunc status=none
            touch -d 2001-01-03 "$T/a/big"
            rsync -a --inplace --no-whole-file "$T/a/" "$F/a/"
            cmp "$T/a/big" "$F/a/big"
            """)
    }

    @Test(arguments: Server.allCases)
    func tarKeepsTimesModesAndLinks(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        let count = server == .local ? 5_000 : 300
        let compare = """
            tar -df "$TAR" -C "$F" >"$T/differences" 2>&1 || { head "$T/differences"; fail 'tar sees differences'; }

            """
        try folder.run(
            """
            TAR="$T/tree.tar"
            make_tree "$T/tree" \(count)
            tar -cf "$TAR" -C "$T" tree
            tar -xpf "$TAR" -C "$F" 2>"$T/complaints"
            [ ! -s "$T/complaints" ] || { head "$T/complaints"; fail 'tar complains'; }

            """ + compare)
        try folder.seenAfresh { try $0.run("TAR='\(folder.scratch.path)/tree.tar'\n" + compare) }
    }

    @Test(arguments: Server.allCases)
    func gitClonesCommitsAndStaysConsistent(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            git config --global user.name Tester; git config --global user.email tester@example.com
            git config --global init.defaultBranch main; git config --global safe.directory '*'
            make_tree "$T/origin" 200
            cd "$T/origin"; git init -q; git add .; git commit -qm 'first'
            git clone -q "$T/origin" "$F/clone"
            cd "$F/clone"
            expect "$(git status --porcelain)" '' 'git status'
            echo more >>d0/new.txt; git add .; git commit -qm 'second'; git tag done
            git mv d0/new.txt moved.txt; git commit -qm 'third'
            git gc -q
            git fsck --strict
            expect "$(git log --oneline | wc -l)" 3
            git push -q origin HEAD:refs/heads/copy
            """)
        try folder.seenAfresh { afresh in
            try afresh.run(
                """
                git config --global safe.directory '*'
                cd "$F/clone"; git fsck --strict
                expect "$(git status --porcelain)" '' 'git status after a remount'
                """)
        }
    }

    @Test(arguments: Server.allCases)
    func sqliteWritesAndReopensADatabase(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            sqlite3 "$F/db" 'create table t(a integer primary key, b text);'
            for i in 1 2 3; do
                sqlite3 "$F/db" "insert into t(b) with recursive n(x) as
                    (select 1 union all select x + 1 from n where x < 1000) select hex(randomblob(20)) from n;"
            done
            sqlite3 "$F/db" 'update t set b = upper(b) where a % 7 = 0; delete from t where a % 10 = 0; vacuum;'
            expect "$(sqlite3 "$F/db" 'pragma integrity_check; select count(*) from t;' | tr '\\n' ' ')" 'ok 2700 '
            expect "$(ls "$F")" db 'only the database stays:'
            """)
        try folder.seenAfresh { afresh in
            try afresh.run(
                """
                checks='pragma integrity_check; select count(*) from t;'
                expect "$(sqlite3 "$F/db" "$checks" | tr '\\n' ' ')" 'ok 2700 '
                """)
        }
    }

    @Test(arguments: Server.allCases)
    func unzipAndCopyPreservingOwnersDoNotComplain(server: Server) throws {
        try Mounts.folder(on: server).run(
            """
            make_tree "$T/tree" 60
            (cd "$T" && zip -qry tree.zip tree)
            (cd "$F" && unzip -q "$T/tree.zip") 2>"$T/complaints"
            diff -r --no-dereference "$T/tree" "$F/tree"
            cp -a "$T/tree" "$F/again" 2>>"$T/complaints"
            diff -r --no-dereference "$T/tree" "$F/again"
            chmod 600 "$F/again/"*.txt; chown -R 0:0 "$F/again"
            [ ! -s "$T/complaints" ] || { head "$T/complaints"; fail 'complaints'; }
            """)
    }

    @Test(arguments: Server.allCases)
    func copyAndMoveKeepModificationTimes(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        let check = """
            for file in copied moved; do expect "$(stat -c %.Y "$F/$file")" 981173106.123456789 "$file:"; done
            """
        try folder.run(
            """
            echo a >"$T/copied"; echo b >"$T/moved"
            touch -d '2001-02-03 04:05:06.123456789' "$T/copied" "$T/moved"
            cp -p "$T/copied" "$F/"; mv "$T/moved" "$F/"
            [ ! -e "$T/moved" ]

            """ + check)
        try folder.seenAfresh { try $0.run(check) }
    }

    @Test(arguments: Server.allCases)
    func aFolderWithManyFilesMovesAndGoesAway(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            make_tree "$T/tree" 300
            cp -r "$T/tree" "$F/old"
            mkdir "$F/old/empty"
            mv "$F/old" "$F/new"
            [ ! -e "$F/old" ] && [ -d "$F/new/empty" ]
            rmdir "$F/new/empty"
            diff -r --no-dereference "$T/tree" "$F/new"
            """)
        #expect(try folder.bucket.list(folder.object("old")).isEmpty)
        try folder.run("rm -r \"$F/new\"; expect \"$(ls -A \"$F\")\" ''")
        #expect(try folder.bucket.list(folder.object("new")).isEmpty)
    }

    @Test(arguments: Server.allCases)
    func findAndDuSeeWhatALocalCopyHas(server: Server) throws {
        try Mounts.folder(on: server).run(
            """
            make_tree "$T/tree" 200
            cp -r "$T/tree" "$F/tree"
            list() { (cd "$1" && find . -type "$2" -printf '%P\\n' | sort); }
            for type in f d l; do diff <(list "$T/tree" $type) <(list "$F/tree" $type); done
            total() { find "$1" -type f -printf '%s\\n' | awk '{ sum += $1 } END { print sum }'; }
            expect "$(total "$F/tree")" "$(total "$T/tree")"
            [ "$(du -s --apparent-size -B1 "$F/tree" | cut -f1)" -ge "$(total "$T/tree")" ]
            [ "$(du -s -B512 "$F/tree" | cut -f1)" -gt 0 ] || fail 'du counts no blocks'
            find "$F/tree" -name 'f1*.txt' -delete
            expect "$(find "$F/tree" -name 'f1*.txt' | wc -l)" 0
            """)
    }
}
