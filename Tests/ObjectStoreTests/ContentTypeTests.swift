import Testing

@testable import ObjectStore

struct ContentTypeTests {
    @Test(arguments: [
        ("index.html", "text/html"), ("a/b/photo.JPG", "image/jpeg"), ("backup.tar.gz", "application/gzip"),
        ("x.Tar.XZ", "application/x-xz"), ("movie.mp4", "video/mp4"), ("data.json", "application/json"),
        ("site.webmanifest", "application/manifest+json"), ("README", "application/octet-stream"),
        (".json", "application/octet-stream"), ("a.json/file", "application/octet-stream"),
        ("dir.txt/", "application/octet-stream"), ("", "application/octet-stream"), ("x.", "application/octet-stream"),
        ("x.averyveryverylongextension", "application/octet-stream"), ("été.txt", "text/plain"),
        ("report.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ])
    func theExtensionTellsTheType(name: String, type: String) {
        #expect(ContentType.forName(Array(name.utf8)) == type)
    }

    @Test func namesThatAreNoUTF8HaveATypeToo() {
        #expect(ContentType.forName([0xFF, 0x2E, 0x70, 0x6E, 0x67]) == "image/png")
        #expect(ContentType.forName([0x61, 0x2E, 0xFF, 0xFE]) == ContentType.unknown)
    }

    @Test func theTableKnowsEachExtensionOnceAndSpellsItInLowerCase() {
        var seen: Set<Substring> = []
        for (type, extensions) in ContentType.table {
            #expect(type.contains("/") && !type.contains(";") && type == type.lowercased(), "\(type)")
            for ending in extensions.split(separator: " ") {
                #expect(seen.insert(ending).inserted, "\(ending) twice")
                #expect(ending == Substring(ending.lowercased()) && ending.utf8.count <= 12, "\(ending)")
            }
        }
        #expect(seen.count > 300)
    }
}
