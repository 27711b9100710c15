import ObjectStore

@testable import BucketFileSystem
@testable import CloudStores

/// JSON that a server answers, and what a file system makes of the objects in it: its first byte says as what the rest
/// is read.
enum DocumentsTarget {
    static func run(_ input: [UInt8]) -> Bool {
        guard let first = input.first else { return false }
        let body = Array(input.dropFirst())
        do throws(AnswerDocument.Malformed) {
            switch first % 5 {
            case 0:
                let page = try AnswerDocument(body, .page)
                for object in try page.objects() { check(object) }
                for folder in page.prefixes() { checkSpelling(folder) }
                precondition(page.nextPageToken?.isEmpty != true, "an empty token is none")
            case 1: for name in try AnswerDocument(body, .namePage).names() { checkSpelling(name) }
            case 2: check(try AnswerDocument(body, .object).object())
            case 3:
                let rewrite = try AnswerDocument(body, .rewrite)
                if rewrite.isDone { check(try rewrite.object()) }
                precondition(rewrite.isDone || rewrite.rewriteToken != nil, "no way to go on")
            default:
                let error = try AnswerDocument(body, .error)
                _ = (error.errorMessage, error.errorReason)
            }
            return true
        } catch { return false }
    }

    private static func check(_ object: ObjectMetadata) {
        precondition(object.size >= 0 && !object.name.bytes.isEmpty && object.md5?.count ?? 16 == 16, "\(object)")
        for moment in [object.timeCreated, object.updated] {
            precondition(Timestamp(rfc3339: moment.rfc3339()) != nil, "\(moment) is written as no time")
        }
        let record = FileRecord(object)
        precondition(record.size >= 0, "\(object)")
        for fact in ExtendedAttribute.Fact.allCases { _ = fact.value(of: object) }
        for key in object.headers.visibleCustom.keys { _ = ExtendedAttribute(ExtendedAttribute.name(ofCustom: key)) }
        checkSpelling(object.name)
        checkChange(of: object.headers)
    }

    /// What a mount sets shows, whatever was there before.
    private static func checkChange(of headers: ObjectHeaders) {
        var changes = MetadataChanges()
        changes.modified = Timestamp(seconds: -1, nanoseconds: 5)
        changes.accessed = Timestamp(seconds: 1_700_000_000, nanoseconds: 7)
        changes.permissions = 0o4751
        let shown = PosixMetadata(changes.applied(to: headers.custom))
        precondition(
            shown.modified == changes.modified && shown.accessed == changes.accessed
                && shown.permissions == changes.permissions, "\(shown)")
    }

    /// Each segment of a name is an entry that a directory can have, and known back from it.
    private static func checkSpelling(_ name: ObjectName) {
        for segment in name.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let entry = Spelling.name(of: segment)
            precondition(
                (1...EntryName.longest).contains(entry.bytes.count) && !entry.bytes.contains(0)
                    && !entry.bytes.contains(UInt8(ascii: "/")) && entry.bytes != Array(".".utf8)
                    && entry.bytes != Array("..".utf8), "\(segment) is spelled \(entry)")
            guard let known = Spelling.segment(of: entry) else { preconditionFailure("\(entry) is not known back") }
            precondition(known.isShortened || known.bytes == Array(segment), "\(entry) is known back as \(known)")
        }
    }
}
