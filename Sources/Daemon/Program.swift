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
        // Ends with the process, which it ends.
        Task { exit(await run(arguments: arguments, environment: environment)) }
        Signals.serve()
    }

    /// - Parameter arguments: Without the program's own name.
    /// - Returns: The exit code.
    public static func run(arguments: [String], environment: [String: String]) async -> Int32 {
        clinux_line_buffer_stdout()
        let invocation: Invocation
        do throws(UsageError) {
            invocation = try Invocation.parse(arguments)
        } catch {
            StandardError.write(Array((error.message + "\n").utf8))
            return ExitCode.usage.rawValue
        }
        let code: ExitCode
        switch invocation {
        case .help(let verb):
            print(verb.map(HelpText.help) ?? HelpText.overview())
            code = .done
        case .version:
            print("ftw-mqtt \(Version.text), Apache License 2.0")
            code = .done
        case .demo(let options): code = await DemoVerb(options: options, environment: environment).run()
        case .run(let options): code = await RunVerb(options: options, environment: environment).run()
        case .pair(let options): code = await PairVerb(options: options, environment: environment).run()
        case .check(let options): code = await CheckVerb(options: options, environment: environment).run()
        case .status(let options): code = await StatusVerb(options: options, environment: environment).run()
        case .unpair(let options): code = await UnpairVerb(options: options, environment: environment).run()
        case .send(let options): code = await SendVerb(options: options, environment: environment).run()
        }
        return code.rawValue
    }
}

/// The process around a verb: its log, its configuration, its state folder.
struct Surroundings: Sendable {
    let environment: [String: String]
    let log: ProcessLog
    var ambient: Ambient

    init(environment: [String: String], logLevel: String?, plain: Bool) {
        self.environment = environment
        let terminal = Terminal.of(STDERR_FILENO, environment: environment, plain: plain)
        let style = ProcessLog.style(
            environment: environment, destination: ProcessLog.standardError(), terminal: terminal)
        log = ProcessLog(style: style, threshold: logLevel.flatMap(LogLevel.init(named:)) ?? .info)
        ambient = Ambient(time: SystemTime(), log: log.log)
    }

    /// Reads the configuration and tells what is wrong with it.
    ///
    /// - Returns: `nil` when it cannot be used; everything was said then.
    /// - Parameter takesLevel: Whether the file decides how much is logged; a
    ///   command that talks to a person keeps its own.
    func settings(_ options: CommonOptions, takesLevel: Bool = false) -> Settings? {
        do {
            let loaded = try SettingsFile.load(path: options.config, environment: environment)
            for warning in loaded.warnings {
                if takesLevel { log.log.warning("\(warning)") } else { complain("warning: \(warning)") }
            }
            var settings = loaded.settings
            if let folder = options.stateDir { settings.stateDir = Self.absolute(folder) }
            if takesLevel, options.logLevel == nil, let level = LogLevel(named: settings.log.level.rawValue) {
                log.level = level
            }
            if let password = settings.mqtt.password { log.redactor.add(password.bytes) }
            return settings
        } catch {
            for problem in error.problems { complain("\(problem)") }
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
    func complain(_ text: String) {
        StandardError.write(Array("ftw-mqtt: \(log.redactor.redact(text))\n".utf8))
    }

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
