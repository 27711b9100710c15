import Foundation
import Testing

@testable import CloudStorage

/// docs/CLOUDSTORAGE.md, paths.
struct PathTests {
    private let root = TestStorage().storage.reference()

    @Test(arguments: [
        ("a/b", "a/b"), ("/a//b/", "a/b"), ("///", ""), ("", ""), ("/", ""), ("..", ".."), (".", "."),
        ("a/../b", "a/../b"), ("50%/x?y#z", "50%/x?y#z"), ("a%2Fb", "a%2Fb"), ("日本/é", "日本/é"), (" a / b ", " a / b "),
        ("a/\u{301}b", "a/\u{301}b"),
    ])
    func childKeepsEverythingButSuperfluousSlashes(path: String, fullPath: String) {
        #expect(Array(root.child(path).fullPath.utf8) == Array(fullPath.utf8))
    }

    @Test(arguments: ["", "/", "//"])
    func childOfNothingIsTheSameReference(path: String) {
        #expect(root.child("a").child(path) == root.child("a"))
    }

    @Test func childrenGoOnFromWhereTheyAreMade() {
        #expect(root.child("a").child("/b/").child("c").fullPath == "a/b/c")
    }

    @Test(arguments: [("a/b", "a"), ("a", ""), ("a/b/c", "a/b"), ("a/..", "a")])
    func parentIsOneComponentUp(path: String, parent: String) {
        #expect(root.child(path).parent()?.fullPath == parent)
    }

    @Test func theRootHasNoParent() {
        #expect(root.parent() == nil)
        #expect(root.child("a").parent()?.parent() == nil)
    }

    @Test func aRootIsARootHoweverItWasReached() {
        let roots = [root, root.child("/"), root.child("a").root(), root.child("a").parent()]
        for other in roots {
            #expect(other == root)
            #expect(other?.hash == root.hash)
            #expect(other?.description == "gs://\(TestStorage.bucket)/")
        }
    }

    @Test(arguments: [("a/b", "b"), ("a", "a"), ("", ""), ("x/y.z", "y.z"), ("a/\u{301}", "\u{301}")])
    func nameIsTheLastComponent(path: String, name: String) {
        #expect(Array(root.child(path).name.utf8) == Array(name.utf8))
    }

    /// The bucket keeps two objects where `String` sees one name.
    @Test func spellingsOfOneCharacterAreDifferentNames() {
        let (composed, decomposed) = (root.child("\u{E9}"), root.child("e\u{301}"))
        #expect(composed.fullPath == decomposed.fullPath)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(!composed.isEqual(decomposed))
    }

    @Test func referencesPrintAsTheirAddress() {
        #expect(root.child("a b/c").description == "gs://\(TestStorage.bucket)/a b/c")
    }

    @Test func referencesOfDifferentBucketsOrAppsDiffer() {
        let other = TestStorage(bucket: "other").storage
        #expect(root.child("a") != other.reference(withPath: "a"))
        #expect(root.child("a") != TestStorage().storage.reference(withPath: "a"))
        #expect(root.child("a").isEqual(root.child("a").copy()))
    }

    /// Such names come from lists; the API cannot make them.
    @Test(arguments: [("dir/", "dir", "", "dir/x"), ("a//b", "b", "a", "a//b/x"), ("a/b//", "b", "a", "a/b//x")])
    func namesWithEmptySegmentsStayAsTheyAre(name: String, last: String, parent: String, child: String) throws {
        let url = "https://h/v0/b/\(TestStorage.bucket)/o/\(name.replacing("/", with: "%2F"))"
        let reference = try root.storage.reference(for: #require(URL(string: url)))
        #expect(reference.fullPath == name)
        #expect(reference.name == last)
        #expect(reference.parent()?.fullPath == parent)
        #expect(reference.child("x").fullPath == child)
    }
}
