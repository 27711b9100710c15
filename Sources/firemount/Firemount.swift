@main
struct Firemount {
    static func main() {}
}
