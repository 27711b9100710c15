import Foundation

/// A text file of the project, as the layer tests read it.
struct ProjectFile: CustomStringConvertible {
    /// Relative to the project's folder, with `/` between.
    let path: String
    let lines: [String]

    var description: String { path }

    /// Below `Sources`, the first folder.
    var module: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    /// Lines without what follows `//`, so that comments may name things that code may not. Good enough for code that
    /// keeps `//` out of its string literals or has nothing of interest behind it.
    var code: [String] {
        lines.map { line in line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? line }
    }

    /// The modules in its import lines.
    var imports: [String] {
        code.compactMap { line in
            let words = line.split(separator: " ")
            guard let keyword = words.firstIndex(of: "import"), keyword <= 2, keyword + 1 < words.count else {
                return nil
            }
            guard words[..<keyword].allSatisfy({ $0.hasPrefix("@") || accessLevels.contains($0) }) else { return nil }
            let isKind = ["struct", "class", "enum", "func", "protocol", "typealias", "var"].contains(
                words[keyword + 1])
            let module = isKind ? words[keyword + 2] : words[keyword + 1]
            return module.split(separator: ".").first.map(String.init)
        }
    }

    private var accessLevels: Set<Substring> { ["public", "package", "internal", "fileprivate", "private"] }

    func numbers(ofLinesWhere isMatch: (String) -> Bool) -> [Int] {
        code.indices.filter { isMatch(code[$0]) }.map { $0 + 1 }
    }

    /// Every file below `folders` whose name ends in one of `extensions` (all, if empty), in order of path.
    static func all(below folders: [String], extensions: Set<String> = []) throws -> [ProjectFile] {
        try folders.flatMap { try paths(below: $0) }
            .filter { extensions.isEmpty || extensions.contains(($0 as NSString).pathExtension) }
            .sorted()
            .map { path in
                let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
                return ProjectFile(
                    path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
            }
    }

    private static func paths(below folder: String) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        return names.map { "\(folder)/\($0)" }.filter { path in
            var isFolder: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: root.appending(path: path).path, isDirectory: &isFolder)
            // Inputs of fuzzing are bytes, not text.
            return !isFolder.boolValue && !path.contains("__pycache__") && !path.contains("/Corpus/")
        }
    }

    private static var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }
}
