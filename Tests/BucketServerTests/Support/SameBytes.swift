import Testing

/// Expects equal bytes, and on failure tells where they part. `#expect(a == b)` works out a whole difference, which for
/// arrays of this size takes minutes.
func expectSame(
    _ found: [UInt8], _ wanted: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
) {
    guard found != wanted else { return }
    let offset = zip(found, wanted).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let place = offset.map { "they differ at \($0)" } ?? "one is the start of the other"
    Issue.record("\(found.count) bytes, wanted \(wanted.count): \(place)", sourceLocation: sourceLocation)
}
