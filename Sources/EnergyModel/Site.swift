public import FoundationEssentials

/// Everything that is known about one household at one moment, as the bridge
/// may show it. Unknown is `nil`, never zero and never the last value.
public struct SiteState: Sendable, Equatable {
    public var link: Link
    /// What the box said about itself; `nil` until the first greeting.
    public var box: BoxFacts?
    /// Every source the box reports, in the order of their ids.
    public var sources: [Source]
    /// Power flows; `nil` until a usable snapshot arrived.
    public var power: Power?
    public var battery: Battery?
    public var control: Control
    public var mode: Mode?
    /// The loadpoints in the box's order; `nil` until they were read, empty when
    /// the box has none.
    public var cars: [CarState]?
    /// `nil` while nothing is known about prices, or the box has none.
    public var prices: PriceBoard?
    /// `nil` while the box told of no plan.
    public var plan: PlanBoard?
    /// `nil` until energy is counted.
    public var energy: EnergyBoard?
    /// What this version of the box said it cannot do at all: hide the control.
    public var unsupported: Set<Intent.Kind> = []
    /// When the timed charging ends that this bridge keeps alive, by loadpoint.
    public var leases: [String: Date] = [:]
    /// When a person's hold ends, by loadpoint: as the bridge keeps it alive, or as the
    /// box says. Without an entry it has no end in time, or nobody knows.
    public var holdEnds: [String: Date] = [:]

    public init(
        link: Link, box: BoxFacts? = nil, sources: [Source] = [], power: Power? = nil,
        battery: Battery? = nil, control: Control = .unknown, mode: Mode? = nil, cars: [CarState]? = nil,
        prices: PriceBoard? = nil, plan: PlanBoard? = nil, energy: EnergyBoard? = nil
    ) {
        self.link = link
        self.box = box
        self.sources = sources
        self.power = power
        self.battery = battery
        self.control = control
        self.mode = mode
        self.cars = cars
        self.prices = prices
        self.plan = plan
        self.energy = energy
    }
}

/// How we stand with the box.
public struct Link: Sendable, Equatable {
    public enum State: String, Sendable, CaseIterable {
        /// No way to the relay yet.
        case connecting
        /// On the relay, the box is not there or does not answer.
        case waitingForBox = "waiting_for_box"
        /// The box says that it is starting.
        case booting
        /// Live frames arrive.
        case live
        /// There was a session and it is gone; we are trying again.
        case lost
        /// The box's owner removed this bridge. Pair again.
        case revoked
        /// No pairing record.
        case unpaired
        /// Live, but this bridge may only look.
        case readonly
        /// Live, but box and bridge only share the smallest protocol.
        case floor
    }
    /// Why the link is not simply live, as a token; sentences are made at the edge.
    public enum Reason: String, Sendable, CaseIterable {
        /// The relay cannot be reached (network, name, refused), or is not heard any more.
        case relayUnreachable = "relay_unreachable"
        /// The relay's certificate was signed by nobody we trust.
        case relayUnknownAuthority = "relay_unknown_authority"
        /// The relay's certificate names another host.
        case relayWrongHost = "relay_wrong_host"
        /// Any other failure of TLS with the relay.
        case relayCertificate = "relay_certificate"
        /// The relay asked us to slow down or has no room.
        case relayBusy = "relay_busy"
        /// Our clock and the relay's differ by more than about an hour.
        case clockWrong = "clock_wrong"
        /// The relay is there, the box is not in its room.
        case boxAway = "box_away"
        /// The box is in the room and does not answer our handshake.
        case handshakeUnanswered = "handshake_unanswered"
        /// The pairing code was not accepted and is no longer sent.
        case codeRefused = "code_refused"
        /// Other clients keep taking our place; we stand back for a while.
        case evicted
        /// Frames stopped arriving.
        case silent
        /// The box went away in the middle.
        case boxGone = "box_gone"
        /// The owner removed this bridge.
        case revoked
        /// The bridge itself was stopped; nothing is known of the box any more.
        case stopped = "bridge_stopped"
    }
    public var state: State
    /// When `state` began.
    public var since: Date
    public var reason: Reason?
    /// When the last frame of the box was opened; `nil` if none was in this run.
    public var lastFrameAt: Date?
    /// How far the box is with its start, 0 to 100; `nil` when it does not say.
    public var bootPercent: Int?

    public init(
        state: State, since: Date, reason: Reason? = nil, lastFrameAt: Date? = nil, bootPercent: Int? = nil
    ) {
        self.state = state
        self.since = since
        self.reason = reason
        self.lastFrameAt = lastFrameAt
        self.bootPercent = bootPercent
    }

    /// True while live frames arrive from the box.
    public var isUp: Bool {
        switch state {
        case .live, .readonly, .floor: true
        default: false
        }
    }
}

/// What the box says about itself in its greeting (wire.md §6.1).
public struct BoxFacts: Sendable, Equatable {
    /// Opaque, 16 hex characters; `nil` when the box sends an empty one.
    public var id: String?
    /// The box's version text.
    public var build: String
    /// The household's zone as an IANA name; `nil` when the box says `Local` or nothing.
    public var zone: String?
    /// `owner` or `viewer`; `nil` on boxes older than roles, which treat us as owner.
    public var role: String?
    /// Granted scopes; `nil` means all.
    public var scopes: [String]?
    public var capabilities: [String]

    public init(
        id: String?, build: String, zone: String?, role: String?, scopes: [String]?, capabilities: [String]
    ) {
        self.id = id
        self.build = build
        self.zone = zone
        self.role = role
        self.scopes = scopes
        self.capabilities = capabilities
    }
}

/// One device driver of the box and how fresh its readings are (wire.md §6.6).
public struct Source: Sendable, Equatable {
    public enum State: String, Sendable, CaseIterable {
        case live, lagging, stale, down, never
        /// A state this version does not know; treated as not healthy.
        case unknown
    }
    /// What the source measures.
    public enum Role: String, Sendable, CaseIterable {
        case meter, solar, battery, charger
    }
    /// The box's own id of it, as typed there.
    public var id: String
    public var name: String
    public var state: State
    /// Which quantities depend on it; empty when nobody told us.
    public var roles: Set<Role>
    /// When it last answered; `nil` when it never did or in another run of the box.
    public var lastAnswered: Date?
    /// From what age on the box stops trusting it; `nil` when the box does not say.
    public var staleAfter: Duration?
    /// Our own verdict: state is `live` or `lagging` and has been steady for
    /// ``healthHold`` since the last fault. Turns false at once, true only after the hold.
    public var isHealthy: Bool

    /// A failing driver flaps every second; a fault is held this long (wire.md §6.6).
    public static let healthHold = Duration.seconds(10)

    public init(
        id: String, name: String, state: State, roles: Set<Role> = [], lastAnswered: Date? = nil,
        staleAfter: Duration? = nil, isHealthy: Bool
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.roles = roles
        self.lastAnswered = lastAnswered
        self.staleAfter = staleAfter
        self.isHealthy = isHealthy
    }
}

/// Power flows in watts: `grid = house + car + battery + solar` (box-api.md §H). Each is `nil` while the
/// source behind it is not healthy or the site has no such thing.
public struct Power: Sendable, Equatable {
    /// Import positive, export negative.
    public var gridW: Double?
    /// Never positive: production is negative.
    public var solarW: Double?
    /// Charging positive, discharging negative.
    public var batteryW: Double?
    /// Charging positive.
    public var carW: Double?
    /// What the house itself uses, never negative; computed by the box from the
    /// others, so `nil` when any of them is.
    public var houseW: Double?
    /// When the box sent these.
    public var at: Date

    public init(
        gridW: Double? = nil, solarW: Double? = nil, batteryW: Double? = nil, carW: Double? = nil,
        houseW: Double? = nil, at: Date
    ) {
        self.gridW = gridW
        self.solarW = solarW
        self.batteryW = batteryW
        self.carW = carW
        self.houseW = houseW
        self.at = at
    }
}

/// The home battery.
public struct Battery: Sendable, Equatable {
    /// State of charge from 0 to 1; `nil` while its source is not healthy.
    public var soc: Double?
    public var at: Date

    public init(soc: Double?, at: Date) {
        self.soc = soc
        self.at = at
    }
}

/// "Is FTW in control?", from lane 0 alone (box-api.md §G).
public struct Control: Sendable, Equatable {
    public enum Answer: String, Sendable { case yes, partly, no, unknown }
    public var answer: Answer
    /// Ids of the sources that stop the box from steering. Held for
    /// ``Source/healthHold`` after the last fault.
    public var blockedBy: [String]
    /// Ids of sources that are silent but do not stop the box.
    public var quiet: [String]
    /// When the answer became what it is; `nil` while unknown from the start.
    public var since: Date?

    public init(answer: Answer, blockedBy: [String] = [], quiet: [String] = [], since: Date? = nil) {
        self.answer = answer
        self.blockedBy = blockedBy
        self.quiet = quiet
        self.since = since
    }

    public static let unknown = Control(answer: .unknown)
}

/// The site's mode and the box's own list of modes (wire.md §6.1, field 1).
public struct Mode: Sendable, Equatable {
    public struct Entry: Sendable, Equatable {
        public var key: String
        public var label: String
        /// `primary`, `advanced`, `hidden`, or a word this version does not know.
        public var tier: String

        public init(key: String, label: String, tier: String) {
            self.key = key
            self.label = label
            self.tier = tier
        }
    }
    /// `nil` when the box says that its mode is not in its list.
    public var current: Entry?
    public var catalogue: [Entry]

    public init(current: Entry?, catalogue: [Entry]) {
        self.current = current
        self.catalogue = catalogue
    }
}
