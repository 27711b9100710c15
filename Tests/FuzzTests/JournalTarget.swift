import Glibc
import TestSupport

@testable import BucketFileSystem

/// A journal's database that is the input: opening it and reading its entries refuses or answers.
enum JournalTarget {
    private static let parent = temporaryDirectory()

    static func run(_ input: [UInt8]) -> Bool {
        let path = "\(parent.path)/bucket-0.fuzzed"
        unsafe mkdir(path, 0o700)
        let file = unsafe open("\(path)/\(JournalDirectory.databaseName)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        precondition(file >= 0, "cannot write the input")
        let written = unsafe input.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        precondition(written == input.count, "cannot write the input")
        close(file)
        for suffix in ["-wal", "-shm", "-journal"] {
            unsafe unlink("\(path)/\(JournalDirectory.databaseName)\(suffix)")
        }
        // What is thrown is the outcome that most inputs deserve.
        do throws(FileSystemError) {
            var count = 0
            for directory in try JournalDirectory.abandoned(in: parent.path, of: nil) {
                let journal = try Journal(opening: directory)
                for entry in try journal.entries().entries {
                    check(entry)
                    count += 1
                }
            }
            return count > 0
        } catch { return false }
    }

    /// What recovery relies on.
    private static func check(_ entry: JournalEntry) {
        guard case .content(let content) = entry.purpose else { return }
        precondition(content.size >= 0 && content.baseLimit >= 0, "\(entry)")
        precondition(!content.file.contains("/"), "\(entry) leads out of the journal's directory")
        for extent in content.extents { precondition(extent.range.lowerBound >= 0, "\(extent)") }
    }
}
