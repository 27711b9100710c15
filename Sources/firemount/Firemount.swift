@main
struct Firemount {
    static func main() {
        _ = try? Invocation(parsing: CommandLine.arguments)
    }
}
