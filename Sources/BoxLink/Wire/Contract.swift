/// Every name and number that is shared with the box, once.
///
/// The raw values are the wire's. A box may always send a name that is not here:
/// that is not an error, it is a newer box.
public enum Contract {
    /// `t` of an envelope (FTW wire §4, §6, §7, §8).
    public enum MessageType: String, Sendable, CaseIterable {
        case hello
        case helloOK = "hello_ok"
        case sub, snap, tick, delta
        case cmd
        case cmdAck = "cmd.ack"
        case cmdResult = "cmd.result"
        case planGet = "plan.get"
        case plan
        case priceGet = "price.get"
        case price
        case histQuery = "hist.query"
        case histChunk = "hist.chunk"
        case histEnd = "hist.end"
        case apiReq = "api.req"
        case apiHead = "api.head"
        case apiChunk = "api.chunk"
        case apiEnd = "api.end"
        case error
        case sessionTerminate = "session.terminate"
        /// Defined, sent by no box.
        case event

        /// Which lane a message of this type travels on.
        public var lane: Frame.Lane {
            switch self {
            case .hello, .sub, .cmd, .tick, .delta, .cmdAck, .cmdResult, .error, .sessionTerminate, .event:
                .control
            case .planGet, .priceGet, .histQuery, .apiReq, .helloOK, .snap, .plan, .price, .histChunk,
                .histEnd, .apiHead, .apiChunk, .apiEnd:
                .bulk
            }
        }
    }

    /// Telemetry fields with frozen numbers (FTW wire §6.4). Keys on the wire are text: ``key``.
    public enum Field: Int64, Sendable, CaseIterable {
        /// Index into `hello_ok.modes`; −1 for a mode that is not listed.
        case mode = 1
        /// Watts, import positive.
        case gridW = 2
        /// Watts, never positive while generating.
        case pvW = 3
        /// Watts, charging positive.
        case batteryW = 4
        /// 0 to 1000. Only while a battery reports it.
        case batterySoCPermille = 5
        /// Watts, without cars.
        case loadW = 6
        /// Reserved; no box sends it.
        case sourceOfGrid = 7
        /// Reserved; no box sends it.
        case sourceOfPV = 8
        /// Reserved; no box sends it.
        case sourceOfBattery = 9
        /// Watts, charging positive, all chargers together. Only at a site with a charger.
        case evW = 10

        /// The name in `snap.dict`.
        public var name: String {
            switch self {
            case .mode: "mode"
            case .gridW: "grid_w"
            case .pvW: "pv_w"
            case .batteryW: "battery_w"
            case .batterySoCPermille: "battery_soc"
            case .loadW: "load_w"
            case .sourceOfGrid: "src_grid"
            case .sourceOfPV: "src_pv"
            case .sourceOfBattery: "src_battery"
            case .evW: "ev_w"
            }
        }

        /// The unit in `snap.dict`; `nil` for an index or a reference.
        public var unit: String? {
            switch self {
            case .gridW, .pvW, .batteryW, .loadW, .evW: "W"
            case .batterySoCPermille: "permille"
            case .mode, .sourceOfGrid, .sourceOfPV, .sourceOfBattery: nil
            }
        }

        /// The key in `fields` and `dict`.
        public var key: String { String(rawValue) }
    }

    /// What a box says it can do (FTW wire §6.1). Presence is all that counts.
    public enum Capability: String, Sendable, CaseIterable {
        case statusCore = "status.core"
        case statusPhases = "status.phases"
        case statusDrivers = "status.drivers"
        case history5m = "history.5m"
        case history1h = "history.1h"
        case historyETag = "history.etag"
        case commandLease = "cmd.lease"
        case commandPrecondition = "cmd.precondition"
        case commandReadback = "cmd.readback"
        case battery = "der.battery"
        case ev = "der.ev"
        case v2x = "der.v2x"
        case planDispatch = "plan.dispatch"
        case webRTC = "net.webrtc"
        case spotPrice = "price.spot"
        case apiPassthrough = "api.passthrough"
    }

    /// The 16 hex characters a box puts beside its capabilities, which tell at a
    /// glance whether two lists are the same: SHA-256 over the sorted names, a
    /// zero byte after each, first 8 bytes.
    public static func capsHash(_ caps: some Sequence<String>) -> String {
        let sorted = caps.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        return Primitives.sha256(sorted.flatMap { $0 + [0] }).prefix(8).hexText
    }

    /// What somebody may do.
    public enum Scope: String, Sendable, CaseIterable {
        case liveRead = "ftw.live.read"
        case historyRead = "ftw.history.read"
        case planRead = "ftw.plan.read"
        case healthRead = "ftw.health.read"
        case assetsRead = "ftw.assets.read"
        case dispatchWrite = "ftw.dispatch.write"
        case modeWrite = "ftw.mode.write"
        case membersRead = "ftw.members.read"
        case membersWrite = "ftw.members.write"

        /// Whether it changes anything.
        public var isWrite: Bool { rawValue.hasSuffix(".write") }
    }

    /// Who somebody is to the box. A missing role on an old box means owner.
    public enum Role: String, Sendable, CaseIterable {
        case owner, viewer

        public var scopes: Set<Scope> {
            switch self {
            case .owner: Set(Scope.allCases)
            case .viewer: [.liveRead]
            }
        }
    }

    /// When a name came into the world; later boxes have what earlier ones have.
    public enum Vintage: String, Sendable, Comparable, CaseIterable {
        case base, soc, prefs

        public static func < (a: Vintage, b: Vintage) -> Bool {
            (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
        }
    }

    /// What a command can ask for (FTW wire §7.6).
    public enum Op: String, Sendable, CaseIterable {
        case siteModeSet = "site.mode.set"
        case plannerPrefsSet = "planner.prefs.set"
        /// Reserved; every box refuses it.
        case batteryHold = "battery.hold"
        case loadpointHold = "loadpoint.hold"
        case loadpointBoost = "loadpoint.boost"
        case loadpointSoCSet = "loadpoint.soc.set"
        case loadpointSurplusOnlySet = "loadpoint.surplus_only.set"

        public var scope: Scope {
            switch self {
            case .siteModeSet, .plannerPrefsSet: .modeWrite
            case .batteryHold, .loadpointHold, .loadpointBoost, .loadpointSoCSet, .loadpointSurplusOnlySet:
                .dispatchWrite
            }
        }

        /// Whether the box refuses it while `dispatchBlockedBy` is not empty;
        /// `nil` where nobody has said.
        public var needsMeter: Bool? {
            switch self {
            case .batteryHold: nil
            case .loadpointHold, .loadpointBoost: true
            case .siteModeSet, .plannerPrefsSet, .loadpointSoCSet, .loadpointSurplusOnlySet: false
            }
        }

        /// Whether any box does it.
        public var isImplemented: Bool { self != .batteryHold }

        /// The first boxes that know it.
        public var since: Vintage {
            switch self {
            case .siteModeSet, .batteryHold, .loadpointHold, .loadpointBoost: .base
            case .loadpointSoCSet, .loadpointSurplusOnlySet: .soc
            case .plannerPrefsSet: .prefs
            }
        }
    }

    /// How prominent a mode is in the box's own app.
    public enum Tier: String, Sendable { case primary, advanced, hidden }

    /// The modes of a box, in its order. A client uses the list in `hello_ok`
    /// and never this one; it is for the simulated box.
    public static let modes: [(key: String, tier: Tier)] = [
        ("planner_passive_arbitrage", .primary), ("planner_arbitrage", .primary), ("idle", .advanced),
        ("self_consumption", .advanced), ("peak_shaving", .advanced), ("charge", .advanced),
        ("planner_self", .hidden), ("planner_cheap", .hidden),
    ]
    /// Further modes that only base boxes list, after ``modes``.
    public static let modesBaseOnly: [(key: String, tier: Tier)] = [
        ("priority", .hidden), ("weighted", .hidden),
    ]

    /// How a box sees one of its sources (FTW wire §6.6).
    public enum SourceState: String, Sendable, CaseIterable { case live, lagging, stale, down, never }
    /// `hello_ok.mode` (FTW wire §6.1).
    public enum SessionMode: String, Sendable, CaseIterable { case full, floor, booting, readonly }
    /// `session.terminate.reason` (FTW wire §6.12).
    public enum TerminateReason: String, Sendable, CaseIterable {
        case revoked
        case epochChanged = "epoch_changed"
        case boxShutdown = "box_shutdown"
        case superseded
    }
    /// `cmd.result.state` (FTW wire §7.3).
    public enum CommandState: String, Sendable, CaseIterable {
        case applied, superseded, unconfirmed, rejected, expired
    }
}
