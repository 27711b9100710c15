import Testing

@testable import firemount

struct BucketSpellingTests {
    @Test(arguments: [
        ("gs://bucket", "bucket", ""), ("gs://bucket/", "bucket", ""), ("gs://bucket/a", "bucket", "a/"),
        ("gs://bucket/a/b/", "bucket", "a/b/"), ("gs://bucket//a", "bucket", "/a/"), ("bucket", "bucket", ""),
        ("bucket:", "bucket", ""), ("bucket:a/b", "bucket", "a/b/"), ("bucket:a:b", "bucket", "a:b/"),
        ("gs://bucket/a:b", "bucket", "a:b/"), ("project.appspot.com", "project.appspot.com", ""),
        ("gs://b_1-x.y/ü", "b_1-x.y", "ü/"), ("gs://bucket/ ", "bucket", " /"),
    ])
    func everySpellingNamesBucketAndPrefix(text: String, bucket: String, prefix: String) throws {
        let spelling = try BucketSpelling(text)
        #expect(spelling.bucket == bucket)
        #expect(spelling.prefix == prefix)
    }

    @Test(arguments: [
        "", "gs://", "gs:///a", ":a", "/mnt/b", "./b", "b/p", "http://b", "a b", "..", "bücket", "gs://a%2Fb", "gs:",
        "gs:/",
    ])
    func otherSpellingsAreRefused(text: String) {
        #expect(throws: UsageError.self) { try BucketSpelling(text) }
    }

    @Test func aPathInTheBucketsPlaceSaysWhatComesFirst() {
        let error = #expect(throws: UsageError.self) { try BucketSpelling("/mnt/b") }
        #expect(error?.message.contains("the bucket comes first") == true)
    }

    @Test func aPrefixLongerThanObjectNamesIsRefused() {
        #expect(throws: UsageError.self) { try BucketSpelling("gs://b/" + String(repeating: "p", count: 1_024)) }
    }
}
