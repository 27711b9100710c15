import Testing

/// Every way of writing to a file ends in one whole object.
@Suite(.mounted()) struct WritingTests {
    @Test func locksHoldWithinOneMount() throws {
        try Mounts.folder(on: .local).run(
            """
            exec 7>"$F/lock"; flock 7
            fails flock --nonblock "$F/lock" true
            exec 7>&-
            flock --nonblock "$F/lock" true
            python3 - "$F/lock" <<'PYTHON'
            import fcntl, os, sys
            held = open(sys.argv[1], "r+")
            fcntl.lockf(held, fcntl.LOCK_EX, 10)
            if os.fork() == 0:
                other = open(sys.argv[1], "r+")
                try: fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB, 10)
                except BlockingIOError: fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10); os._exit(0)
                os._exit(1)
            assert os.waitstatus_to_exitcode(os.wait()[1]) == 0, "two have the lock"
            PYTHON
            """)
    }

    @Test(arguments: Server.allCases)
    func appendingAddsAtTheEnd(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            cd "$F"; for i in 1 2 3; do echo line $i >>log; done
            expect "$(wc -l <log)" 3
            python3 - <<'PYTHON'
            import os
            first = os.open("log", os.O_WRONLY | os.O_APPEND); second = os.open("log", os.O_WRONLY | os.O_APPEND)
            for turn in range(50):
                os.write(first, b"first\\n"); os.write(second, b"second\\n")
            os.close(first); os.close(second)
            PYTHON
            expect "$(grep -c first log) $(grep -c second log) $(wc -l <log)" '50 50 103'
            """)
        let text = try #require(try folder.bucket.text(folder.object("log")))
        #expect(text.hasPrefix("line 1\nline 2\nline 3\nfirst\nsecond\n"))
        #expect(text.split(separator: "\n").count == 103)
    }

    @Test(arguments: Server.allCases)
    func appendingToALargerFileKeepsItsBeginning(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run("head -c 6000000 /dev/urandom >\"$T/file\"; cp \"$T/file\" \"$F/file\"")
        try folder.seenAfresh {
            try $0.run(
                """
                local='\(folder.scratch.path)/file'
                for i in 1 2 3; do echo line $i | tee -a "$local" >>"$F/file"; done
                expect "$(stat -c %s "$F/file")" "$(stat -c %s "$local")"
                """)
        }
        try folder.run("'\(Programs.firemount)' refresh \"$F/file\"; cmp \"$T/file\" \"$F/file\"")
    }

    @Test(arguments: Server.allCases)
    func sharedMemoryMapsWriteThrough(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            python3 - "$F/mapped" <<'PYTHON'
            import mmap, os, sys
            with open(sys.argv[1], "wb+") as file:
                file.truncate(100_000)
                with mmap.mmap(file.fileno(), 0) as map:
                    map[0:5] = b"start"; map[50_000:50_006] = b"middle"; map[99_997:] = b"end"
                    map.flush()
            with open(sys.argv[1], "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as map:
                assert map[0:5] == b"start" and map[50_000:50_006] == b"middle" and map[99_997:] == b"end"
                assert map[5:50_000] == bytes(49_995)
            PYTHON
            """)
        let body = try #require(try folder.bucket.get(folder.object("mapped")))
        #expect(body.count == 100_000)
        #expect(body.prefix(5).elementsEqual("start".utf8))
        #expect(body.suffix(3).elementsEqual("end".utf8))
    }

    @Test(arguments: Server.allCases)
    func sizeAndTimeAreNewBeforeTheFileIsClosed(server: Server) throws {
        try Mounts.folder(on: server).run(
            """
            python3 - "$F/file" <<'PYTHON'
            import os, sys, time
            before = time.time() - 2
            file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
            os.write(file, b"x" * 12345)
            by_path = os.stat(sys.argv[1])
            assert by_path.st_size == os.fstat(file).st_size == 12345, by_path
            assert by_path.st_mtime >= before, (by_path.st_mtime, before)
            with open(sys.argv[1], "rb") as other: assert other.read() == b"x" * 12345
            os.close(file)
            PYTHON
            """)
    }

    @Test(arguments: Server.allCases)
    func anUnlinkedFileStaysReadableAndIsNotStored(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            python3 - "$F" <<'PYTHON'
            import os, sys
            os.chdir(sys.argv[1])
            new = os.open("new", os.O_CREAT | os.O_RDWR); os.write(new, b"temporary"); os.unlink("new")
            os.write(new, b" bytes"); assert os.pread(new, 100, 0) == b"temporary bytes"; os.close(new)
            with open("old", "wb") as file: file.write(b"content" * 1000)
            old = os.open("old", os.O_RDONLY); os.unlink("old")
            assert os.pread(old, 7, 6993) == b"content", os.pread(old, 7, 6993); os.close(old)
            assert os.listdir(".") == [], os.listdir(".")
            PYTHON
            """)
        #expect(try folder.bucket.list(folder.object("")).filter { !$0.hasSuffix("/") }.isEmpty)
    }

    @Test(arguments: Server.allCases)
    func emptyFilesAreObjectsToo(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run("cd \"$F\"; touch touched; : >opened; cp /dev/null copied; expect \"$(cat * | wc -c)\" 0")
        for name in ["touched", "opened", "copied"] {
            #expect(try folder.bucket.object(folder.object(name))?.size == "0", "\(name)")
        }
    }

    @Test(arguments: Server.allCases)
    func exclusiveCreationIsToldOfAnotherClientsFileAtTheLatestAtClose(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run("[ ! -e \"$F/lock\" ]; ls \"$F\"")
        try folder.bucket.put(folder.object("lock"), "theirs")
        try folder.run(
            """
            python3 - "$F/lock" <<'PYTHON'
            import errno, os, sys
            try: os.close(os.open(sys.argv[1], os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError: sys.exit(0)
            sys.exit("created over another client's file")
            PYTHON
            """)
        #expect(try folder.bucket.text(folder.object("lock")) == "theirs")
    }

    @Test(arguments: Server.allCases)
    func writesAtRandomOffsetsReadBack(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            python3 - "$F/file" "$T/model" <<'PYTHON'
            import os, random, sys
            chance = random.Random(7)
            path, model = sys.argv[1], bytearray()
            for session in range(6):
                file = os.open(path, os.O_CREAT | os.O_RDWR)
                for step in range(60):
                    kind, offset = chance.randrange(10), chance.randrange(400_000)
                    if kind == 0:
                        os.ftruncate(file, offset)
                        del model[offset:]; model.extend(bytes(offset - len(model)))
                    elif kind < 6:
                        body = chance.randbytes(chance.randrange(1, 70_000))
                        os.pwrite(file, body, offset)
                        model.extend(bytes(max(0, offset - len(model)))); model[offset:offset + len(body)] = body
                    else:
                        count = chance.randrange(1, 100_000)
                        got = os.pread(file, count, offset)
                        assert got == bytes(model[offset:offset + count]), f"session {session} step {step}"
                    assert os.fstat(file).st_size == len(model)
                if session % 2: os.fsync(file)
                os.close(file)
            open(sys.argv[2], "wb").write(model)
            PYTHON
            cmp "$F/file" "$T/model"
            """)
        try folder.seenAfresh { try $0.run("cmp \"$F/file\" '\(folder.scratch.path)/model'") }
    }

    @Test(arguments: Server.allCases)
    func aFileStoredByOneProcessIsWholeForTheNext(server: Server) throws {
        let folder = try Mounts.folder(on: server)
        try folder.run(
            """
            cd "$F"
            pids=(); for worker in $(seq 16); do
                (for i in $(seq 8); do
                    head -c $((worker * 1000 + i)) /dev/zero | tr '\\0' x >"w$worker-$i"
                    expect "$(wc -c <"w$worker-$i")" $((worker * 1000 + i))
                done) & pids+=($!)
            done
            for pid in "${pids[@]}"; do wait "$pid"; done
            expect "$(ls | wc -l)" 128
            """)
        #expect(try folder.bucket.list(folder.object("w")).count == 128)
        #expect(try folder.bucket.object(folder.object("w16-8"))?.size == "16008")
    }
}
