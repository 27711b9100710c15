package enum ContentType { package static let unknown = "application/octet-stream"
 package static func forName(_ n: [UInt8]) -> String { unknown } }
