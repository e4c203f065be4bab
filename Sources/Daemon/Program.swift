import Ambient
import CLinux
import Configuration
import FoundationEssentials
import Glibc

/// The whole program: what the command line asked for, carried out.
public enum Program {
    /// Runs the program on other threads; this one, the main one, waits for signals.
    ///
    /// - Parameter arguments: Without the program's own name.
    public static func main(arguments: [String], environment: [String: String]) -> Never {
        clinux_keep_heaps_few()
        Signals.block()
        // Read here, so that no signal comes before it is known what it should do.
        let invocation = Result { () throws(UsageError) in try Invocation.parse(arguments) }
        Signals.expect(listener: (try? invocation.get())?.listensToSignals ?? false)
        // Ends with the process, which it ends.
        Task { exit(await run(invocation, environment: environment)) }
        Signals.serve()
    }

    /// - Returns: The exit code.
    private static func run(
        _ invocation: Result<Invocation, UsageError>, environment: [String: String]
    ) async -> Int32 {
        clinux_line_buffer_stdout()
        let code: ExitCode
        switch invocation {
        case .failure(let error):
            Surroundings(environment: environment, logLevel: nil, plain: true).complain(error.message)
            code = .usage
        case .success(let invocation): code = await run(invocation, environment: environment)
        }
        return code.rawValue
    }

    private static func run(_ invocation: Invocation, environment: [String: String]) async -> ExitCode {
        switch invocation {
        case .help(let verb):
            print(verb.map(HelpText.help) ?? HelpText.overview())
            return .done
        case .version:
            print("ftw-mqtt \(Version.text), Apache License 2.0")
            return .done
        case .demo(let options): return await DemoVerb(options: options, environment: environment).run()
        case .run(let options): return await RunVerb(options: options, environment: environment).run()
        case .pair(let options): return await PairVerb(options: options, environment: environment).run()
        case .check(let options): return await CheckVerb(options: options, environment: environment).run()
        case .status(let options): return await StatusVerb(options: options, environment: environment).run()
        case .unpair(let options): return await UnpairVerb(options: options, environment: environment).run()
        case .send(let options): return await SendVerb(options: options, environment: environment).run()
        }
    }
}

/// The process around a verb: its log, its configuration, its state folder.
struct Surroundings: Sendable {
    let environment: [String: String]
    let log: ProcessLog
    var ambient: Ambient

    init(environment: [String: String], log: ProcessLog) {
        self.environment = environment
        self.log = log
        ambient = Ambient(time: SystemTime(), log: log.log)
    }

    init(environment: [String: String], logLevel: String?, plain: Bool) {
        let terminal = Terminal.of(STDERR_FILENO, environment: environment, plain: plain)
        let style = ProcessLog.style(
            environment: environment, destination: ProcessLog.standardError(), terminal: terminal)
        self.init(
            environment: environment,
            log: ProcessLog(style: style, threshold: logLevel.flatMap(LogLevel.init(named:)) ?? .info))
    }

    /// Reads the configuration and tells what is wrong with it.
    ///
    /// - Returns: `nil` when it cannot be used; everything was said then.
    /// - Parameter isDaemon: What is wrong goes into the log, and the file decides how
    ///   much is logged; a command that talks to a person tells it and keeps its own.
    func settings(_ options: CommonOptions, isDaemon: Bool = false) -> Settings? {
        do {
            let loaded = try SettingsFile.load(path: options.config, environment: environment)
            for warning in loaded.warnings {
                if isDaemon {
                    log.log.warning("\(warning)")
                } else {
                    log.complain("warning: \(warning)", as: .warning)
                }
            }
            var settings = loaded.settings
            if let folder = options.stateDir { settings.stateDir = Self.absolute(folder) }
            if isDaemon, options.logLevel == nil, let level = LogLevel(named: settings.log.level.rawValue) {
                log.level = level
            }
            if let password = settings.mqtt.password { log.redactor.add(password.bytes) }
            return settings
        } catch {
            for problem in error.problems {
                if isDaemon { log.log.error("\(problem)") } else { complain("\(problem)") }
            }
            return nil
        }
    }

    /// The site that was named, or the only one.
    ///
    /// - Returns: `nil` when that is not one site; what to do was said.
    func site(_ id: String?, of settings: Settings) -> Settings.Site? {
        let known = settings.sites.map(\.id).joined(separator: ", ")
        if let id {
            if let site = settings.sites.first(where: { $0.id == id }) { return site }
            complain("there is no site \"\(id)\" in the configuration; known: \(known)")
            return nil
        }
        if settings.sites.count == 1 { return settings.sites.first }
        complain("the configuration has several sites; choose one with --site: \(known)")
        return nil
    }

    /// To standard error, for the person at the terminal.
    func complain(_ text: String) { log.complain(text) }

    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

extension LogLevel {
    init?(named name: String) {
        guard let level = LogLevel.allCases.first(where: { "\($0)" == name }) else { return nil }
        self = level
    }
}
