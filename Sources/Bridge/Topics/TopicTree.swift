public import MQTTTypes

/// Where the topics of one site lie.
///
/// What there is under it (``TopicName``, ``TopicSpec``) is one table, from which
/// topics, flags, discovery and the documentation page all come.
public struct TopicTree: Sendable, Equatable {
    /// Everything of this site begins with this and a `/`.
    public let root: String

    /// - Parameters:
    ///   - base: First levels of everything, such as `ftw`; may contain `/`.
    ///   - site: The site's short id. Folded only if it is no plain topic level.
    public init(base: String, site: String) {
        let isPlain =
            !site.isEmpty
            && site.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
            }
        root = "\(base)/\(isPlain ? site : TopicLevel(site).text)"
    }

    /// The full topic of a row that stands for exactly one topic.
    public func topic(_ name: TopicName) -> String { "\(root)/\(name.rawValue)" }

    /// The full topic of a place.
    public func topic(_ place: Place) -> String { "\(root)/\(place.path)" }

    /// The part of a full topic below this site; `nil` when it is not below it.
    public func path(of topic: String) -> String? {
        guard topic.hasPrefix(root + "/") else { return nil }
        return String(topic.dropFirst(root.count + 1))
    }

    /// Whether a bridge takes commands there, below its site.
    public static func takesCommands(_ path: String) -> Bool {
        path.hasPrefix("bridge/request/") || path.hasSuffix("/set") || path.hasSuffix("/adjust")
    }

    /// Whether a bridge with that base, for whichever site, takes commands on that full topic.
    public static func takesCommands(base: String, topic: String) -> Bool {
        guard topic.hasPrefix("\(base)/") else { return false }
        // A site is one level, see ``init(base:site:)``.
        let below = topic.dropFirst(base.count + 1).drop { $0 != "/" }.dropFirst()
        return takesCommands(String(below))
    }

    /// Everything below this site: our commands, and what others write where only we should.
    public var filter: String { "\(root)/#" }

    /// One topic below the site: a row of the table with its `<id>` filled in.
    public struct Place: Sendable, Hashable {
        public let name: TopicName
        /// What stands for the one part in angle brackets; `nil` in a row without one.
        public let level: TopicLevel?

        public init(_ name: TopicName, _ level: TopicLevel? = nil) {
            self.name = name
            self.level = level
        }

        /// The topic below the site.
        public var path: String {
            guard let level else { return name.rawValue }
            return name.rawValue.split(separator: "/").map { $0.hasPrefix("<") ? level.text : String($0) }
                .joined(separator: "/")
        }
    }
}

/// Every topic below a site, as a pattern. A released one is never renamed.
public enum TopicName: String, Sendable, CaseIterable {
    case bridgeAvailability = "bridge/availability"
    case bridgeInfo = "bridge/info"
    case bridgeHealth = "bridge/health"
    case bridgeInstance = "bridge/instance"
    case bridgePing = "bridge/request/ping"
    case bridgeRepublish = "bridge/request/republish"
    case bridgeReload = "bridge/request/reload"
    case boxAvailability = "box/availability"
    case boxLink = "box/link"
    case source = "source/<id>"
    case sourceAvailability = "source/<id>/availability"
    case power
    case battery
    case control
    case mode
    case carState = "car/<id>/state"
    case carLevel = "car/<id>/level"
    case carControl = "car/<id>/control"
    case carHold = "car/<id>/hold"
    case carGoal = "car/<id>/goal"
    case carReady = "car/<id>/ready"
    case carTextEn = "car/<id>/text/en"
    case carTextSv = "car/<id>/text/sv"
    case priceNow = "price/now"
    case priceSeries = "price/series"
    case cheapest = "price/cheap/<n>h"
    case cheapNow = "price/cheap_now"
    case planNow = "plan/now"
    case planSeries = "plan/series"
    case energy
    case siteTakes = "commands"
    case carTakes = "car/<id>/commands"
    case carCommands = "car/<id>/commands/availability"
    case carLastCommand = "car/<id>/last_command"
    case carLevelSet = "car/<id>/level/set"
    case carLevelAdjust = "car/<id>/level/adjust"
    case carControlSet = "car/<id>/control/set"
    case carGoalSet = "car/<id>/goal/set"
    case carSurplusOnlySet = "car/<id>/surplus_only/set"
    case carBoostSet = "car/<id>/boost/set"
    case modeSet = "mode/set"
    case result
}

/// One row of the table: what a topic carries and how it is sent.
public struct TopicSpec: Sendable {
    public enum Direction: Sendable {
        /// The bridge publishes it.
        case state
        /// The bridge listens to it.
        case request
    }
    public enum Form: Sendable {
        /// One of these words, as it is.
        case plain([String])
        /// A JSON object with exactly these members, always all of them.
        case document([Member])
        /// A text of ours, as it is.
        case text
        /// Anything; see the row's meaning.
        case any
    }
    /// One member of a document. Unknown is `null`.
    public struct Member: Sendable {
        public enum Kind: Sendable {
            /// A number, with its unit; an empty unit is a count.
            case number(unit: String)
            case text
            /// One of these words.
            case token([String])
            case flag
            /// ISO 8601 with the household's offset.
            case time
            case list
            case object
        }
        public let name: String
        public let kind: Kind
        public let meaning: LocalText
        /// True for a member that dates a document but is no reason to publish it.
        public let isDating: Bool

        /// Whether `mqtt.values` mirrors it to a topic of its own.
        public var isScalar: Bool {
            switch kind {
            case .list, .object: false
            default: true
            }
        }
    }

    public let name: TopicName
    public let direction: Direction
    public let form: Form
    public let meaning: LocalText
    /// When it is published, for the documentation.
    public let occasion: LocalText
    public let isRetained: Bool
    public let qos: QoS
    /// MQTT 5 expiry while the value is live; `nil`: it stands until it is replaced.
    public let expirySeconds: UInt32?
    /// The member that says when a document is over: the message expires soon after, so that a
    /// bridge that is there replaces it in time and needs no renewal; `nil`: see ``expirySeconds``.
    public var expiresWith: String?
    /// How long after its end a document expires, in seconds.
    public static let expiryGrace: UInt32 = 900
    /// What a command to change it adds to its topic, such as `set`; empty when
    /// nobody can. Command topics come from here and from nowhere else.
    public var commands: [String] = []

    public var members: [Member] { if case .document(let members) = form { members } else { [] } }

    /// Names of the members that only date the document.
    var datingMembers: Set<String> { Set(members.filter(\.isDating).map(\.name)) }
}

extension TopicName {
    /// This topic's row.
    public var spec: TopicSpec { TopicTree.rows[self] ?? TopicTree.missing(self) }
}

extension TopicTree {
    static let rows = Dictionary(uniqueKeysWithValues: table.map { ($0.name, $0) })

    /// A name without a row would be a mistake in this module; a test rules it out.
    /// Such a topic is never retained, so it cannot outlive the mistake.
    static func missing(_ name: TopicName) -> TopicSpec {
        TopicSpec(
            name: name, direction: .state, form: .any, meaning: LocalText("", ""),
            occasion: LocalText("", ""), isRetained: false, qos: .atMostOnce, expirySeconds: nil)
    }
}
