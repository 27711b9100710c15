import Testing

/// The shape that keeps the code readable, as far as a test can see it.
struct LayoutTests {
    static let codeExtensions: Set<String> = ["swift", "c", "cpp", "h", "py"]

    @Test func noFileIsLongerThan500Lines() throws {
        for file in try ProjectFile.all(below: ["Sources", "Tests", "scripts"], extensions: Self.codeExtensions) {
            #expect(file.lines.count <= 501, "\(file): \(file.lines.count - 1) lines")
        }
    }

    @Test func noLineIsLongerThan120Columns() throws {
        for file in try ProjectFile.all(below: ["Sources", "Tests", "scripts"]) {
            let long = file.lines.indices.filter { file.lines[$0].count > 120 }.map { $0 + 1 }
            #expect(long.isEmpty, "\(file): lines \(long)")
        }
    }

    @Test func fileNamesAreASCIIWithoutSpaces() throws {
        for file in try ProjectFile.all(below: ["Sources", "Tests", "scripts", "docs"]) {
            #expect(file.path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "\(file)")
        }
    }

    /// What works only on the machine where it was written does not work.
    @Test func nothingNamesAFolderOfOnePersonsMachine() throws {
        let foreign = ["work", "home", "root", "Users"].map { "/" + $0 + "/" }
        for file in try ProjectFile.all(below: ["Sources", "Tests", "scripts", "docs"]) {
            let lines = file.lines.indices.filter { number in foreign.contains { file.lines[number].contains($0) } }
            #expect(lines.isEmpty, "\(file): lines \(lines.map { $0 + 1 })")
        }
    }

    @Test func scriptsStayUnder40Lines() throws {
        for file in try ProjectFile.all(below: ["scripts"]) where !file.path.contains(".") {
            #expect(file.lines.count <= 41, "\(file): \(file.lines.count - 1) lines; logic belongs in a program")
        }
    }
}
