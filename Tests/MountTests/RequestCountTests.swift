import Foundation
import Testing

/// Speed on a distant bucket is the number of requests. The local server counts them.
@Suite(.serialized) struct RequestCountTests {
    @Test func aColdSmallFileAfterAListingCostsOneRequest() throws {
        try counting { folder in
            for number in 0..<3 { try folder.bucket.put(folder.object("file\(number)"), "content \(number)") }
            try folder.run("ls -l \"$F\" >/dev/null")
            #expect(try folder.requests { try folder.run("cat \"$F/file1\"") } == ["storage.objects.media": 1])
        }
    }

    @Test func aWarmReadCostsNothing() throws {
        try counting { folder in
            try folder.bucket.put(folder.object("file"), String(repeating: "content ", count: 1_000))
            try folder.run("cat \"$F/file\" >/dev/null")
            #expect(
                try folder.requests { try folder.run("cat \"$F/file\" \"$F/file\" >/dev/null; stat \"$F/file\"") }
                    == [:])
        }
    }

    @Test func whatWasJustWrittenIsKnownWithoutARequest() throws {
        try counting { folder in
            try folder.run("ls \"$M\"; mkdir \"$F\"; ls \"$F\"; seq 1000 >\"$F/file\"")
            #expect(try folder.requests { try folder.run("ls -l \"$F\"; stat \"$F/file\"") } == [:])
        }
    }

    @Test func listing5000ObjectsCostsFiveRequests() throws {
        try counting { folder in
            try folder.bucket.put(folder.object("f-00000"), "x")
            try folder.mounted.server.multiply(folder.object("f-00000"), prefix: folder.object("f-"), count: 4_999)
            let requests = try folder.requests {
                try folder.run(
                    """
                    ls -l --color=always "$F" >"$T/listing"; expect "$(grep -c 'f-' "$T/listing")" 5000
                    expect "$(find "$F" -type f -size 1c | wc -l)" 5000; du -sh "$F"
                    """)
            }
            // One more at most for what the folder itself is.
            #expect(requests.keys.sorted() == ["storage.objects.list"])
            #expect((5...6).contains(requests["storage.objects.list"] ?? 0), "\(requests)")
        }
    }

    @Test func copyingASmallNewFileCostsOneRequest() throws {
        try counting { folder in
            try folder.bucket.put(folder.object("other"), "x")
            try folder.run("seq 100 >\"$T/new\"; ls -l \"$F\"")
            #expect(try folder.requests { try folder.run("cp \"$T/new\" \"$F/new\"") } == ["storage.objects.insert": 1])
            #expect(
                try folder.requests { try folder.run("cp -p \"$T/new\" \"$F/again\"") } == ["storage.objects.insert": 1]
            )
        }
    }

    @Test func walkingATreeCostsOneListAFolder() throws {
        try counting { folder in
            for parent in ["a", "a/b", "a/b/c", "d"] {
                for number in 0..<4 { try folder.bucket.put(folder.object("\(parent)/f\(number)"), "x") }
            }
            let requests = try folder.requests {
                try folder.run("expect \"$(find \"$F\" -type f -size 1c | wc -l)\" 16; du -s \"$F\"; ls -lR \"$F\"")
            }
            #expect(requests.keys.sorted() == ["storage.objects.list"])
            #expect((5...7).contains(requests["storage.objects.list"] ?? 0), "\(requests)")
        }
    }

    @Test func renamingAFileCostsOneRequestAndMovesNoBytes() throws {
        try counting { folder in
            try folder.bucket.put(folder.object("other"), "x")
            try folder.run("ls -l \"$F\"; head -c 3000000 /dev/zero >\"$F/big\"")
            try folder.bucket.forgetRequests()
            try folder.run("mv \"$F/big\" \"$F/renamed\"")
            let requests = try folder.bucket.requests()
            #expect(requests.counts.filter { $0.value > 0 } == ["storage.objects.move": 1])
            #expect(requests.bytesReceived + requests.bytesSent < 100_000, "\(requests)")
        }
    }

    @Test func rsyncCostsThreeRequestsAFile() throws {
        try counting { folder in
            try folder.bucket.put(folder.object("other"), "x")
            try folder.run(
                """
                mkdir "$T/src"; for n in $(seq 20); do seq $n >"$T/src/$n.txt"; chmod 600 "$T/src/$n.txt"; done
                touch -d 2001-02-03 "$T/src"/*; ls -l "$F"
                """)
            let requests = try folder.requests {
                try folder.run("rsync -a \"$T/src/\" \"$F/\"; sync \"$F\" \"$F\"/*.txt")
            }
            #expect(requests["storage.objects.insert"] == 20 || requests["storage.objects.insert"] == 21)
            #expect(requests["storage.objects.move"] == 20)
            // The folder's own times are one more.
            #expect((20...21).contains(requests["storage.objects.patch"] ?? 0), "\(requests)")
            #expect(requests["storage.objects.list"] ?? 0 <= 1, "\(requests)")
            let object = try #require(try folder.bucket.object(folder.object("7.txt")))
            #expect(object.metadata?["goog-reserved-posix-mode"] == "600")
            #expect(object.metadata?["goog-reserved-file-mtime"] == "981158400")
        }
    }

    @Test func copyingInsideTheMountSendsNoBytes() throws {
        try counting { folder in
            try folder.run("mkdir \"$F\"; head -c 1000000000 /dev/zero >\"$F/a.txt\"; echo end >>\"$F/a.txt\"")
            try folder.bucket.forgetRequests()
            try folder.run("cp \"$F/a.txt\" \"$F/b.html\"")
            let requests = try folder.bucket.requests()
            #expect(requests.counts["storage.objects.rewrite"] == 1, "\(requests)")
            #expect(requests.counts["storage.objects.insert"] ?? 0 == 0, "\(requests)")
            #expect(requests.bytesReceived + requests.bytesSent < 100_000, "\(requests)")
            let copy = try #require(try folder.bucket.object(folder.object("b.html")))
            #expect(copy.size == "1000000004")
            #expect(copy.contentType?.hasPrefix("text/html") == true)
            try folder.run("cmp \"$F/a.txt\" \"$F/b.html\"")
        }
    }

    @Test func appendingToALargeFileSendsTheTailOnly() throws {
        try counting { folder in
            try folder.run("mkdir \"$F\"; head -c 1000000000 /dev/zero >\"$F/f.txt\"")
            try folder.bucket.patch(
                folder.object("f.txt"), ["cacheControl": "no-cache", "metadata": ["colour": "red"]])
            try folder.bucket.forgetRequests()
            try folder.run("echo x >>\"$F/f.txt\"")
            let requests = try folder.bucket.requests()
            #expect(requests.bytesReceived + requests.bytesSent < 100_000, "\(requests)")
            #expect(requests.counts["storage.objects.media"] ?? 0 == 0, "\(requests)")
            let object = try #require(try folder.bucket.object(folder.object("f.txt")))
            #expect(object.size == "1000000002")
            #expect(object.contentType?.hasPrefix("text/plain") == true)
            #expect(object.cacheControl == "no-cache")
            #expect(object.metadata?["colour"] == "red")
            try folder.run(
                """
                expect "$(tail -c 3 "$F/f.txt" | od -An -c | tr -d ' ')" '\\0x\\n'
                ls -a "$M" >"$T/root"
                """)
            try folder.run("fails grep firemount \"$T/root\"")
        }
    }

    @Test func aHierarchicalBucketsFolderIsRenamedByOneCall() throws {
        let mounted = try MountedBucket(on: .local, options: [], isHierarchical: true)
        defer { mounted.tearDown() }
        let folder = try mounted.newFolder()
        try folder.run(
            "cd \"$F\"; mkdir -p a/b c; for n in $(seq 30); do echo $n >a/$n; echo $n >a/b/$n; done; ls -lR")
        let requests = try folder.requests { try folder.run("mv \"$F/a\" \"$F/d\"") }
        #expect(requests["storage.folders.rename"] == 1, "\(requests)")
        #expect(requests["storage.objects.rewrite"] == nil && requests["storage.objects.move"] == nil)
        try folder.run(
            """
            cd "$F"; expect "$(cat d/7 d/b/7)" $'7\\n7'; fails ls a
            echo more >>d/7; expect "$(cat d/7)" $'7\\nmore'
            rmdir c; rm -r d/b; expect "$(ls -A)" d
            """)
        #expect(try folder.bucket.text(folder.object("d/7")) == "7\nmore\n")
        try folder.seenAfresh { again in try again.run("expect \"$(ls -A \"$F\")\" d; fails ls \"$F/d/b\"") }
    }

    @Test func securityAttributesCostNothing() throws {
        try counting { folder in
            try folder.bucket.put(folder.object("f"), "x")
            try folder.run("cat \"$F/f\"")
            let requests = try folder.requests {
                try folder.run(
                    "fails getfattr -n security.selinux \"$F/f\"; fails getfattr -n system.posix_acl_access \"$F/f\"; "
                        + "fails getfattr -n trusted.x \"$F/f\"; fails setfattr -n security.x -v 1 \"$F/f\"")
            }
            #expect(requests == [:])
        }
    }

    @Test func inFirebasesProtocolNamesCostAListAndDetailsAQuestionEach() throws {
        try counting(on: .firebase) { folder in
            try folder.bucket.put(folder.object("f-00000"), "x")
            try folder.mounted.server.multiply(folder.object("f-00000"), prefix: folder.object("f-"), count: 299)
            try folder.run("stat \"$F\"")
            let names = try folder.requests {
                try folder.run("expect \"$(ls \"$F\" | wc -l)\" 300")
            }
            #expect(names == ["firebase.objects.list": 1])
            let details = try folder.requests { try folder.run("ls -l \"$F\" >/dev/null; ls -l \"$F\" >/dev/null") }
            #expect(details == ["firebase.objects.get": 300])
        }
    }

    /// A mount of its own on the local server, whose metadata outlives the test.
    private func counting(on server: Server = .local, _ body: (MountedFolder) throws -> Void) throws {
        let mounted = try MountedBucket(on: server, options: [])
        defer { mounted.tearDown() }
        try body(try mounted.newPrefix())
    }
}

extension MountedFolder {
    /// What `body` asked of the local server.
    func requests(_ body: () throws -> Void) throws -> [String: Int] {
        try bucket.forgetRequests()
        try body()
        return try bucket.requests().counts.filter { $0.value > 0 }
    }
}
