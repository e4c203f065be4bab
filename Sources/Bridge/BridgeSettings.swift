public import EnergyModel
public import MQTTTypes

/// What a bridge for one site needs to know. A plain value; where it is read
/// from is somebody else's business.
public struct BridgeSettings: Sendable, Equatable {
    /// How eagerly power is published, see ``PowerPace``.
    public enum Rate: String, Sendable, CaseIterable { case calm, normal, fast }

    /// The site's short id in the configuration; becomes a topic level.
    public var siteID: String
    /// What people call the site. Travels only as data, never in a topic.
    public var siteName: String
    /// The box's own id, when it is already known from an earlier session; else `nil`.
    public var boxID: String?
    /// A hash of the box's public key, in hex. Stands in for the id of a box that has none.
    public var boxKeyHash: String
    /// First topic levels of everything; may contain `/`.
    public var baseTopic: String
    /// Whether Home Assistant is told about our entities.
    public var discovery: Bool
    /// Home Assistant's discovery prefix; its birth message is `<prefix>/status`.
    public var discoveryPrefix: String
    public var language: Language
    public var rate: Rate
    /// Mirror each scalar of a document to `…/<member>`.
    public var mirrorsValues: Bool
    /// The household's zone when the box does not name one. The same as the box port's, or
    /// goals and prices follow another clock than the times shown.
    public var zone: Zone
    /// Lengths of the cheapest stretches that are published, in hours.
    public var cheapHours: [Int]
    /// Every command is refused.
    public var isReadOnly: Bool
    /// The commands that are open.
    public var commands: Set<CommandName>
    /// Answers voice assistants that speak the Hermes protocol; `nil`: none is listened to.
    public var voice: VoiceSettings?
    /// What the broker connection writes on ``claimTopic``; `nil`: it writes nothing there.
    public var claim: String?
    /// This program's version.
    public var version: String
    /// Where people find out more, for every discovery document; `nil` leaves it out.
    public var supportURL: String?

    public init(
        siteID: String = "home", siteName: String = "Home", boxID: String? = nil, boxKeyHash: String,
        baseTopic: String = "ftw", discovery: Bool = true, discoveryPrefix: String = "homeassistant",
        language: Language = .en, rate: Rate = .normal, mirrorsValues: Bool = false, zone: Zone = .utc,
        cheapHours: [Int] = [2, 3, 4], isReadOnly: Bool = false,
        commands: Set<CommandName> = Set(CommandName.allCases), voice: VoiceSettings? = nil,
        claim: String? = nil, version: String, supportURL: String? = nil
    ) {
        self.siteID = siteID
        self.siteName = siteName
        self.boxID = boxID
        self.boxKeyHash = boxKeyHash
        self.baseTopic = baseTopic
        self.discovery = discovery
        self.discoveryPrefix = discoveryPrefix
        self.language = language
        self.rate = rate
        self.mirrorsValues = mirrorsValues
        self.zone = zone
        self.cheapHours = cheapHours
        self.isReadOnly = isReadOnly
        self.commands = commands
        self.voice = voice
        self.claim = claim
        self.version = version
        self.supportURL = supportURL
    }

    /// Where the broker connection writes down which instance was connected last,
    /// retained, so that a second one with the same client id is told from a bad network.
    public var claimTopic: String { "\(tree.root)/bridge/instance" }

    /// All topics of this site.
    public var tree: TopicTree { TopicTree(base: baseTopic, site: siteID) }

    /// What the broker says for us when we die: `offline` on the topic, with the
    /// QoS and the retain flag of our birth. It never expires, unlike the birth.
    public var will: Will { Will(availability(online: false)) }

    /// Our birth, renewed while we live, or our goodbye.
    ///
    /// The birth expires (MQTT 5.0 §3.3.2.3.3), because a broker that is killed
    /// together with us sends no will.
    func availability(online: Bool) -> Message {
        let spec = TopicName.bridgeAvailability.spec
        return Message(
            tree.topic(.bridgeAvailability), online ? "online" : "offline", qos: spec.qos,
            retained: spec.isRetained, expirySeconds: online ? spec.expirySeconds : nil)
    }
}
