/// One option of a command: how it is spelled, what it takes, and where its value goes.
struct Option<Arguments>: Sendable {
    /// Without dashes: `metadata-ttl`. In `-o` lists `_` may stand for `-`.
    let name: String
    /// The one-letter spelling.
    let letter: Character?
    /// What follows it; nil: nothing.
    let placeholder: String?
    /// One line for `--help`; says the default.
    let help: String
    /// Whether it may stand in an `-o` list.
    let isMountOption: Bool
    private let store: @Sendable (inout Arguments, String) throws(UsageError) -> Void

    /// An option with a value. Given twice, the last one wins.
    init<Value: OptionValue>(
        _ name: String, letter: Character? = nil, _ placeholder: String = Value.placeholder,
        sets path: any WritableKeyPath<Arguments, Value?> & Sendable, _ help: String
    ) {
        self.init(name, letter: letter, placeholder: placeholder, isMountOption: true, help: help) {
            (arguments, spelling) throws(UsageError) in
            guard let value = Value(spelling: spelling) else {
                throw UsageError("'\(spelling)' is no value for --\(name); accepted: \(Value.forms)")
            }
            arguments[keyPath: path] = value
        }
    }

    /// An option without a value.
    init(
        _ name: String, letter: Character? = nil, turnsOn path: any WritableKeyPath<Arguments, Bool> & Sendable,
        _ help: String
    ) {
        self.init(name, letter: letter, placeholder: nil, isMountOption: true, help: help) {
            (arguments, _) throws(UsageError) in arguments[keyPath: path] = true
        }
    }

    /// An option whose value is more than one thing.
    init(
        _ name: String, letter: Character? = nil, placeholder: String?, isMountOption: Bool, help: String,
        store: @escaping @Sendable (inout Arguments, String) throws(UsageError) -> Void
    ) {
        self.name = name
        self.letter = letter
        self.placeholder = placeholder
        self.help = help
        self.isMountOption = isMountOption
        self.store = store
    }

    /// The same option of a command that has the arguments of this one among its own.
    func within<Other>(_ path: any WritableKeyPath<Other, Arguments> & Sendable) -> Option<Other> {
        Option<Other>(name, letter: letter, placeholder: placeholder, isMountOption: isMountOption, help: help) {
            [store] (arguments, text) throws(UsageError) in try store(&arguments[keyPath: path], text)
        }
    }

    /// `--metadata-ttl D`, `-f, --foreground`.
    var usage: String {
        let letters = letter.map { "-\($0), " } ?? ""
        return letters + "--\(name)" + (placeholder.map { " \($0)" } ?? "")
    }

    /// - Parameter value: as typed; nil: none was given.
    func apply(_ value: String?, to arguments: inout Arguments) throws(UsageError) {
        do throws(UsageError) {
            switch (placeholder, value) {
            case (.none, .some): throw UsageError("--\(name) takes no value")
            case (.some(let placeholder), .none): throw UsageError("--\(name) needs a value: --\(name) \(placeholder)")
            case (.none, .none): try store(&arguments, "")
            case (.some, .some(let value)): try store(&arguments, value)
            }
        } catch {
            throw error.withUsage("\(usage)   \(help)")
        }
    }
}
