/// How mount(8) calls us for a line of fstab: `mount.firemount DEVICE DIR [-sfnv] [-N NS] [-t TYPE] [-o LIST]`
/// (mount(8), EXTERNAL HELPERS).
struct MountHelperRequest: Sendable, Equatable {
    var mount: MountRequest
    /// `-f`: all but the mount itself.
    var isFake: Bool

    /// - Parameter words: what follows the program's name.
    init(parsing words: [String]) throws(UsageError) {
        var switches = Switches()
        let operands = try ArgumentParser(options: Switches.options).parse(words, into: &switches)
        var settings = MountSettings()
        for item in switches.items {
            do throws(UsageError) {
                try settings.apply(item)
            } catch  where switches.isSloppy && !settings.knows(item) {
                continue
            }
        }
        mount = try MountRequest(operands: operands, settings: settings)
        isFake = switches.isFake
    }

    private struct Switches: Sendable {
        var isFake = false
        var isSloppy = false
        var isIgnored = false
        var items: [MountOptionList.Item] = []

        static let options: [Option<Switches>] = [
            Option("fake", letter: "f", turnsOn: \.isFake, "all but the mount itself"),
            Option("sloppy", letter: "s", turnsOn: \.isSloppy, "skip unknown options"),
            Option("no-mtab", letter: "n", turnsOn: \.isIgnored, "nothing: there is no mtab"),
            Option("verbose", letter: "v", turnsOn: \.isIgnored, "nothing"),
            Option("namespace", letter: "N", placeholder: "NS", isMountOption: false, help: "nothing") { _, _ in },
            Option("types", letter: "t", placeholder: "TYPE", isMountOption: false, help: "nothing") { _, _ in },
            Option("options", letter: "o", placeholder: "LIST", isMountOption: false, help: "mount options") {
                (switches, text) in switches.items += MountOptionList(text).items
            },
        ]
    }
}

extension MountSettings {
    /// Whether an item of an `-o` list has a meaning here, whatever its value.
    fileprivate func knows(_ item: MountOptionList.Item) -> Bool {
        let name = String(item.name.map { $0 == "_" ? "-" : $0 })
        return Self.options.contains { $0.name == name && $0.isMountOption }
    }
}
