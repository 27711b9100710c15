/// Writes the API's folder resource.
struct FolderResource {
    let bucket: String
    let root: String

    func write(_ folder: FolderRecord, to json: inout JSONWriter) {
        let escaped = String(decoding: percentEncoded(folder.name.bytes), as: UTF8.self)
        json.object { json in
            json.string("kind", "storage#folder")
            json.string("id", "\(bucket)/\(folder.name)")
            json.string("selfLink", "\(root)/storage/v1/b/\(bucket)/folders/\(escaped)")
            json.string("name", utf8: folder.name.bytes)
            json.string("bucket", bucket)
            json.quotedNumber("metageneration", folder.metageneration)
            json.string("createTime", utf8: rfc3339(folder.created))
            json.string("updateTime", utf8: rfc3339(folder.updated))
        }
    }

    func document(_ folder: FolderRecord) -> [UInt8] {
        var json = JSONWriter()
        write(folder, to: &json)
        return json.bytes
    }
}
