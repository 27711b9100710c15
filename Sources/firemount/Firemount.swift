import Glibc

/// The command. `main` is not async: its thread serves the mount.
@main
struct Firemount {
    static func main() {
        exit(run(CommandLine.arguments))
    }

    /// Returns the exit status: 0; 1 if it could not be done; 2 if it was typed wrong.
    private static func run(_ arguments: [String]) -> Int32 {
        do {
            return try perform(try Invocation(parsing: arguments), arguments)
        } catch let error as UsageError {
            printLine("firemount: \(error.message)", to: STDERR_FILENO)
            if let usage = error.usage { printLine("usage: \(usage)", to: STDERR_FILENO) }
            return 2
        } catch let error as CommandFailure {
            printLine("firemount: \(error.message)", to: STDERR_FILENO)
            return error.status
        } catch {
            preconditionFailure("no other error is thrown: \(error)")
        }
    }

    private static func perform(_ invocation: Invocation, _ arguments: [String]) throws(CommandFailure) -> Int32 {
        let environment = ProcessEnvironment.current
        switch invocation {
        case .help(let verb): printLine(HelpText.text(for: verb))
        case .version: printLine("firemount \(version)")
        case .checkedMount: break
        case .unmount(let request):
            let command = UnmountCommand(mountPoint: environment.absolutePath(request.mountPoint))
            // This process must not be what keeps the mount busy.
            leaveFileSystems(closingFrom: STDERR_FILENO + 1)
            try command.run()
        case .refresh(let request): try RefreshCommand(path: environment.absolutePath(request.path)).run()
        case .status(let request):
            return try StatusCommand(
                mountPoint: request.mountPoint.map(environment.absolutePath), request: request
            ).run()
        case .transfers(let request):
            try TransferCommand(
                command: request.command, mountPoint: environment.absolutePath(request.mountPoint), id: request.id
            ).run()
        case .mount(let request): return try mount(request, arguments, environment)
        case .login(let request): try LoginCommand(request: request, environment: environment).run()
        case .logout: try LogoutCommand(environment: environment).run()
        case .whoami: try WhoamiCommand(environment: environment).run()
        case .recover(let request): return try RecoverCommand(request, environment).run()
        case .serve(let settings): try ServeCommand(settings, environment).run()
        case .demo(let request): return try DemoCommand(request: request, environment: environment).run()
        }
        return 0
    }

    private static func mount(
        _ request: MountRequest, _ arguments: [String], _ environment: ProcessEnvironment
    ) throws(CommandFailure) -> Int32 {
        let configuration = try MountConfiguration(request, environment)
        if configuration.isForeground {
            return try MountCommand(configuration, environment).run(environment) { true }
        }
        if let reply = LaunchReply(from: environment) {
            return try MountCommand(configuration, environment).run(environment) { reply.ready() }
        }
        return try BackgroundLaunch.start(arguments, givingUpAfter: .seconds(30))
    }

    static let version = "0.1"
}
