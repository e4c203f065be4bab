/// One option of the command line.
struct OptionSpec: Equatable {
    enum Name: String, CaseIterable {
        case help, version, config, site, speed, seconds, language, broker, port, plain, relay, replace,
            offline
        case expires, id, yes, console, state, start
        case noBridge = "no-bridge"
        case noPrint = "no-print"
        case relayPort = "relay-port"
        case stateDir = "state-dir"
        case logLevel = "log-level"
    }
    var name: Name
    var short: Character?
    /// What stands for the value in the help; `nil`: the option takes none.
    var value: String?
    var about: String

    var long: String { "--\(name.rawValue)" }
}

/// What a subcommand takes, for the parser and for its help.
struct VerbSpec {
    var summary: String
    /// As in `ftw-mqtt pair [options] LINK`.
    var arguments: String
    var options: [OptionSpec]
    /// Paragraphs.
    var about: [String]
    /// Commands to copy, each with what it does.
    var examples: [(line: String, does: String)]
}

extension OptionSpec {
    static let help = OptionSpec(name: .help, short: "h", about: "show this text")
    static let config = OptionSpec(
        name: .config, short: "c", value: "FILE", about: "configuration file [/etc/ftw-mqtt/config.yaml]")
    static let stateDir = OptionSpec(
        name: .stateDir, value: "DIR", about: "folder with keys and pairings, instead of state_dir")
    static let logLevel = OptionSpec(
        name: .logLevel, value: "LEVEL", about: "error, warning, notice, info or debug, instead of log.level")
    static let plain = OptionSpec(name: .plain, about: "no colour and no redrawing")
    static let site = OptionSpec(
        name: .site, short: "s", value: "ID", about: "the house, when the configuration has several")
    static let common = [config, stateDir, logLevel, plain, help]
}

extension Verb {
    var spec: VerbSpec {
        switch self {
        case .demo: Self.demoSpec
        case .run: Self.runSpec
        case .pair: Self.pairSpec
        case .check: Self.checkSpec
        case .status: Self.statusSpec
        case .send: Self.sendSpec
        case .unpair: Self.unpairSpec
        case .version: Self.versionSpec
        }
    }

    private static let demoSpec = VerbSpec(
        summary: "a simulated house, to look around without a box", arguments: "",
        options: [
            .init(name: .broker, value: "HOST:PORT", about: "use this broker instead of starting one"),
            .init(name: .port, value: "PORT", about: "port for the broker that is started [any free one]"),
            .init(name: .speed, value: "N", about: "let the day pass N times as fast, 1 to 120 [1]"),
            .init(name: .seconds, value: "N", about: "stop after N seconds [run until Ctrl-C]"),
            .init(name: .language, value: "en|sv", about: "language of names and sentences [en]"),
            .init(name: .console, about: "take commands from standard input; help lists them"),
            .init(name: .start, value: "TIME", about: "where the house's clock begins, with its zone [now]"),
            .init(name: .noBridge, about: "the house alone: bridges of your own join it"),
            .init(name: .relayPort, value: "PORT", about: "port for the house's relay [any free one]"),
            .init(name: .state, value: "FILE", about: "keep there who the box is and whom it lets in"),
            .init(name: .noPrint, about: "do not print topics"), .logLevel, .plain, .help,
        ],
        about: [
            "Runs a house, a box and a relay in one process and the real bridge over them. When no broker is "
                + "named, mosquitto is started on a free port of this machine. Nothing is left on disk and "
                + "nothing outside this machine is touched, except a broker you name.",
            "Topics are printed as they change.",
            "With --console, each line typed arranges something: a car that comes, a source that dies, what becomes "
                + "of the next command. Each is answered by one line: = and what is so now, or ! and what is wrong.",
            "With --no-bridge the house waits for bridges of your own: ftw-mqtt pair with the link it prints, then "
                + "ftw-mqtt run. They keep this machine's time, so leave --start and --speed away then.",
        ],
        examples: [
            ("ftw-mqtt demo --console --no-print", "type: car situation late 4000"),
            ("ftw-mqtt demo", "look around"),
            ("ftw-mqtt demo --speed 60 --language sv", "a day in 24 minutes, in Swedish"),
            ("ftw-mqtt demo --broker localhost:1883", "with your own broker and Home Assistant"),
        ])

    private static let runSpec = VerbSpec(
        summary: "the bridge itself (when no command is given)", arguments: "", options: OptionSpec.common,
        about: [
            "Connects every paired box of the configuration to the MQTT broker and stays until it is told to stop.",
            "SIGTERM and SIGINT end it in order. SIGHUP reads the configuration again and takes over what can be; "
                + "the log says what needs a restart. Logs go to standard error, in the journal's form when "
                + "it is the journal.",
        ],
        examples: [
            ("ftw-mqtt run --config ./config.yaml --log-level debug", "by hand, with much to read")
        ])

    private static let pairSpec = VerbSpec(
        summary: "connect a box, from its link or QR picture", arguments: "LINK|PNG|-",
        options: [
            .site,
            .init(name: .relay, value: "URL", about: "meet the box at this relay, instead of relay.url"),
            .init(name: .seconds, value: "N", about: "give up after N seconds [60]"),
            .init(name: .replace, about: "replace the pairing that the house already has"),
        ] + OptionSpec.common,
        about: [
            "Get the link on the box's own page: Settings, FTW app. It works once and for ten minutes. "
                + "Give the link itself, the name of a picture of its QR code, or - to read it from standard input.",
            "The link is a key to the house. As an argument, other users of this machine can see it in the "
                + "process list while the command runs, and your shell remembers it; with - neither happens.",
            "Run it as the user that the bridge runs as, so that the keys belong to that user.",
        ],
        examples: [
            ("ftw-mqtt pair -", "paste the link, press Enter"),
            ("ftw-mqtt pair ./qr.png --site cabin", "from a picture, for the house cabin"),
            ("sudo -u ftw-mqtt ftw-mqtt pair -", "when the bridge runs as a service"),
            ("runuser -u ftw-mqtt -- ftw-mqtt pair -", "the same as root, where there is no sudo"),
        ])

    private static let checkSpec = VerbSpec(
        summary: "is everything right? what is wrong, and what to do", arguments: "",
        options: [.site, .init(name: .offline, about: "only look at files; reach nobody")]
            + OptionSpec.common,
        about: [
            "Reads the configuration and the state folder, then reaches for the broker, the relay and each box, "
                + "and says of each whether it answered. Changes nothing."
        ],
        examples: [
            ("ftw-mqtt check", "everything"),
            ("ftw-mqtt check --offline --config new.yaml", "is this file right?"),
        ])

    private static let statusSpec = VerbSpec(
        summary: "what the bridge sees now", arguments: "", options: [.site] + OptionSpec.common,
        about: [
            "Shows a house as the bridge last published it, read from the broker. Needs a running bridge."
        ],
        examples: [("ftw-mqtt status", "the house at a glance")])

    private static let sendSpec = VerbSpec(
        summary: "one command, followed to its end", arguments: "LOADPOINT COMMAND VALUE | mode KEY",
        options: [
            .site,
            .init(name: .expires, value: "N", about: "not to be carried out after N seconds, 1 to 30 [30]"),
            .init(name: .id, value: "ID", about: "send it under this id [a new one]"),
        ] + OptionSpec.common,
        about: [
            "Sends the command through the broker to the running bridge, as an automation would, and prints every "
                + "stage until the last. Commands: level, adjust, control, goal, surplus_only, boost; "
                + "mode is for the whole house.",
            "Exit code 0 means done, as read back from the box; 6 refused; 7 nobody confirmed it in time.",
        ],
        examples: [
            ("ftw-mqtt send garage control charge_now", "charge at full power"),
            ("ftw-mqtt send garage control plan", "back to the plan"),
            ("ftw-mqtt send garage level 62", "the car is at 62 %"),
            ("ftw-mqtt send garage goal '{\"level\":80,\"by\":\"07:00\"}'", "80 % by seven"),
        ])

    private static let unpairSpec = VerbSpec(
        summary: "forget a box, clear its topics and entities", arguments: "SITE",
        options: [.init(name: .yes, short: "y", about: "do not ask")] + OptionSpec.common,
        about: [
            "Deletes the keys for that house from the state folder and clears its retained topics and Home "
                + "Assistant entities. Remove the app's row on the box's own page too: only that takes the right away."
        ],
        examples: [("ftw-mqtt unpair home", "asks first")])

    private static let versionSpec = VerbSpec(
        summary: "version and licence", arguments: "", options: [.help], about: ["Prints the version."],
        examples: [])
}
