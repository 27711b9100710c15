import ObjectStore

extension ContentType {
    /// The type for the name a new file will likely have in the end. `rsync` writes `.NAME.XXXXXX` and renames it; with
    /// the type of NAME from the start, the rename need not change it.
    static func forFinalName(of object: ObjectName) -> String {
        let type = forName(object.bytes)
        let segment = object.bytes.split(separator: UInt8(ascii: "/")).last ?? []
        guard type == unknown, segment.first == UInt8(ascii: "."), let dot = segment.lastIndex(of: UInt8(ascii: ".")),
            segment.endIndex - dot == 7
        else { return type }
        return forName(Array(segment[(segment.startIndex + 1)..<max(dot, segment.startIndex + 1)]))
    }
}
