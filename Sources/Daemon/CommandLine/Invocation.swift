import FoundationEssentials

/// What the person at the command line asks for.
enum Invocation: Equatable {
    case demo(DemoOptions)
    case run(CommonOptions)
    case pair(PairOptions)
    case check(CheckOptions)
    case status(SiteOptions)
    case send(SendOptions)
    case unpair(UnpairOptions)
    case version
    /// `nil`: the overview.
    case help(Verb?)

    /// Whether it ends in an order of its own when it is told to stop. The others
    /// have nothing to put in order and end where they are.
    var listensToSignals: Bool {
        switch self {
        case .demo, .run: true
        case .pair, .check, .status, .send, .unpair, .version, .help: false
        }
    }
}

/// The subcommands.
enum Verb: String, CaseIterable {
    case demo, run, pair, check, status, send, unpair, version
}

/// Options that every command with a configuration has.
struct CommonOptions: Equatable {
    /// The configuration file; `nil`: `FTW_MQTT_CONFIG`, else the usual place.
    var config: String?
    /// Instead of `state_dir`.
    var stateDir: String?
    /// Instead of `log.level`: `error`, `warning`, `notice`, `info` or `debug`.
    var logLevel: String?
    /// No colour, no redrawing.
    var plain = false
}

struct SiteOptions: Equatable {
    var common = CommonOptions()
    /// `nil`: the only one there is.
    var site: String?
}

struct DemoOptions: Equatable {
    struct Broker: Equatable {
        var host: String
        var port: Int
    }
    /// `nil`: start one on a free loopback port.
    var broker: Broker?
    /// Port for the broker that is started; `nil`: any free one.
    var port: Int?
    /// How many times faster than the clock the simulated day goes, 1 to 120.
    var speed = 1.0
    /// Stop after so many seconds of real time; `nil`: run until interrupted.
    var seconds: Int?
    /// `en` or `sv`.
    var language: String?
    var logLevel: String?
    var plain = false
    /// Take commands from standard input.
    var console = false
    /// Relay, box and house alone; bridges are other processes.
    var noBridge = false
    /// Port for the relay; `nil`: any free one.
    var relayPort: Int?
    /// The file in which the box keeps who it is; `nil`: a new box each time.
    var state: String?
    /// Where the house's clock begins; `nil`: now.
    var start: Date?
    /// Do not print topics.
    var noPrint = false
}

struct PairOptions: Equatable {
    enum Source: Equatable {
        case link(String)
        /// A picture of the QR code.
        case picture(String)
        /// `-`: one line from standard input, which no process list shows.
        case standardInput
    }
    var common = CommonOptions()
    var site: String?
    var source: Source
    /// Instead of `relay.url`.
    var relay: String?
    /// Give up after so many seconds.
    var seconds: Int?
    /// Replace a pairing that the site already has.
    var replace = false
}

struct CheckOptions: Equatable {
    var common = CommonOptions()
    var site: String?
    /// Only look at the files; reach nobody.
    var offline = false
}

struct SendOptions: Equatable {
    var common = CommonOptions()
    var site: String?
    /// Loadpoint id; `nil` for commands to the whole site, such as `mode`.
    var loadpoint: String?
    /// `level`, `adjust`, `control`, `goal`, `surplus_only`, `boost` or `mode`.
    var command: String
    /// The payload as typed.
    var value: String
    /// Seconds after which it must not be carried out any more, 1 to 30; `nil`: the bridge's 30.
    var expiresS: Int?
    /// The id to send it under; `nil`: a new one.
    var id: String?
}

struct UnpairOptions: Equatable {
    var common = CommonOptions()
    var site: String
    /// Do not ask.
    var yes = false
}

/// The command line cannot be understood. The text is for a person.
struct UsageError: Error, Equatable {
    var text: String
    /// Whose help to point to; `nil`: the overview.
    var verb: Verb?

    /// Two lines, after the program's name: what is wrong, and where to read more.
    var message: String {
        "\(text)\nTry: ftw-mqtt \(verb.map { "\($0.rawValue) " } ?? "")--help"
    }
}
