import Testing

/// docs/SEMANTICS.md says which test holds a promise.
struct PromisesTests {
    @Test func theTestsThatSemanticsNamesAreThere() throws {
        let semantics = try #require(try ProjectFile.all(below: ["docs"]).first { $0.path == "docs/SEMANTICS.md" })
        let text = semantics.lines.joined(separator: " ")
        let names = Set(text.matches(of: /`([A-Z]\w*Tests|[a-z]+[A-Z]\w{12,})`/).map { String($0.output.1) })
        #expect(names.count > 20)
        let tests = try ProjectFile.all(below: ["Tests"], extensions: ["swift"])
        #expect(names.subtracting(tests.flatMap { $0.lines.compactMap(Self.declaredName) }).sorted() == [])
    }

    /// Of a suite or a test.
    private static func declaredName(_ line: String) -> String? {
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(where: { $0 == "func" || $0 == "struct" }), keyword + 1 < words.count
        else {
            return nil
        }
        return String(words[keyword + 1].prefix { $0.isLetter || $0.isNumber })
    }
}
