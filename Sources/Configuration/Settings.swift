/// Everything a person can decide about the bridge, as plain values.
///
/// A fresh value holds the defaults. Where the values come from (file and
/// environment) and which are allowed is the business of `SettingsFile` and
/// `SettingKey`; nothing here reads or checks anything.
public struct Settings: Sendable, Equatable {
    /// Language of names and sentences that people see.
    public enum Language: String, Sendable, CaseIterable { case en, sv }

    public var language = Language.en
    /// Absolute path of the folder with keys, pairings and memory.
    public var stateDir = "/var/lib/ftw-mqtt"
    /// True: no command reaches any box.
    public var readOnly = false
    public var log = LogSettings()
    public var mqtt = MQTT()
    public var relay = Relay()
    /// Never empty, ids unique.
    public var sites = [Site()]
    public var commands = Commands()
    public var car = Car()
    public var prices = Prices()
    public var energy = Energy()
    public var voice = Voice()

    public init() {}

    /// Whether commands for that site are refused, by its own setting or the global one.
    public func isReadOnly(_ site: Site) -> Bool { readOnly || site.readOnly }

    public struct LogSettings: Sendable, Equatable {
        /// The least important lines that are written, as the journal names them.
        public enum Level: String, Sendable, CaseIterable { case error, warning, notice, info, debug }
        public var level = Level.info
    }

    public struct MQTT: Sendable, Equatable {
        public enum Version: String, Sendable, CaseIterable {
            /// MQTT 5, and 3.1.1 when the broker refuses that.
            case auto
            case v5 = "5"
            case v311 = "3.1.1"
        }
        public enum Rate: String, Sendable, CaseIterable { case calm, normal, fast }

        /// Host name or address, IPv6 without brackets.
        public var host = "localhost"
        /// The port as written; `nil` when none was, see ``port``.
        public var portWritten: Int?
        /// User name; `nil` for none. Never `nil` when there is a password.
        public var user: String?
        /// The password, from wherever it came; `nil` for none.
        public var password: Secret?
        /// Absolute path of the file that ``password`` was read from, if it was.
        public var passwordFile: String?
        /// `nil`: made from ``baseTopic`` and the site's id, so that it is stable and two households do not meet.
        public var clientID: String?
        public var baseTopic = "ftw"
        public var keepAliveSeconds = 30
        public var version = Version.auto
        public var usesTLS = false
        /// The files of ``tls``; without meaning unless ``usesTLS``.
        public var tlsFiles = TLS()
        public var rate = Rate.normal
        /// Mirror each scalar of a document to a topic of its own.
        public var values = false
        public var discovery = true
        public var discoveryPrefix = "homeassistant"

        /// The port to dial: as written, else 8883 with TLS and 1883 without.
        public var port: Int { portWritten ?? (usesTLS ? 8883 : 1883) }
        /// `nil`: no TLS.
        public var tls: TLS? { usesTLS ? tlsFiles : nil }
    }

    /// Absolute paths of PEM files.
    public struct TLS: Sendable, Equatable {
        /// Authorities that may sign the broker's certificate; `nil`: the system's.
        public var caFile: String?
        /// Our certificate; `nil` exactly when ``keyFile`` is.
        public var certificateFile: String?
        public var keyFile: String?
    }

    public struct Relay: Sendable, Equatable {
        /// `wss://host[:port]`, or `ws://…` where that is allowed.
        public var url = "wss://relay.ftw.energy"
        /// Absolute path of a PEM file; `nil`: the system's authorities.
        public var caFile: String?
        /// Permits `ws://` to somewhere else than this machine.
        public var allowPlain = false
    }

    public struct Site: Sendable, Equatable {
        /// Topic level, see `SiteID`.
        public var id = "home"
        /// What people call it.
        public var name = "Home"
        /// IANA name of the household's zone; `nil`: what the box says.
        public var zone: String?
        public var readOnly = false

        public init() {}
    }

    /// What a person may ask for over MQTT.
    public enum CommandName: String, Sendable, CaseIterable {
        case level, control, goal
        case surplusOnly = "surplus_only"
        case boost, mode
    }

    public struct Commands: Sendable, Equatable {
        public var allow = CommandName.allCases
        /// The owner agrees that a goal is written on a box that asks for a step-up.
        public var goalConsent = false
    }

    public struct Car: Sendable, Equatable {
        /// How often the chargers are asked, 15 s to 10 min.
        public var readInterval = Duration.seconds(60)
    }

    public struct Prices: Sendable, Equatable {
        /// Lengths of the cheapest stretches to look for, in hours, ascending.
        public var cheapHours = [2, 3, 4]
        /// One of these three is set; see ``cheapNow``.
        public var cheapLevel: Int? = 3
        public var cheapUnder: Double?
        public var cheapWindow: Int?

        /// When `price/cheap_now` is `ON`.
        public var cheapNow: CheapRule {
            if let under = cheapUnder { return .under(under) }
            if let hours = cheapWindow { return .window(hours: hours) }
            return .level(cheapLevel ?? 3)
        }
    }

    public enum CheapRule: Sendable, Equatable {
        /// The price level, 1 (cheapest) to 8, is that or lower.
        case level(Int)
        /// The total price per kWh, in the currency's main unit, is below that.
        case under(Double)
        /// Now is inside the cheapest stretch of so many hours.
        case window(hours: Int)
    }

    public struct Energy: Sendable, Equatable {
        public enum Start: String, Sendable, CaseIterable {
            /// Totals begin at zero when the bridge first sees the box.
            case zero
            /// Totals begin with all that the box's ledger still knows.
            case backfill
        }
        public var start = Start.zero
    }

    public struct Voice: Sendable, Equatable {
        /// Answer Hermes intents (`hermes/intent/#`).
        public var hermes = false
        /// What the names of our intents begin with.
        public var prefix = "Ftw"
    }
}
