/// How old the simulated box is, and what it therefore lacks.
public enum BoxVintage: Sendable, CaseIterable {
    /// Before roles, folded subscriptions, prices and cars.
    case ancient
    /// Box 2.2.1.
    case base
    /// Knows `loadpoint.soc.set` and `loadpoint.surplus_only.set`, and tells assumption from estimate.
    case soc
    /// Keeps old car readings on display, reads schedules on the household's clock.
    case late

    var build: String {
        switch self {
        case .ancient: "v1.4.0"
        case .base: "v2.2.1"
        case .soc: "v2.4.0"
        case .late: "v2.6.0"
        }
    }
    var foldsSubscription: Bool { self != .ancient }
    var hasRoles: Bool { self != .ancient }
    var hasPassthrough: Bool { self != .ancient }
    var hasLoadpoints: Bool { self != .ancient }
    var hasPrices: Bool { self != .ancient }
    /// The fields and the two commands of the `soc` generation.
    var hasCarLevels: Bool { self == .soc || self == .late }
    var isLate: Bool { self == .late }

    /// What a role may do; the reserved ones are in no list.
    static func scopes(of role: BoxRole) -> [String] {
        switch role {
        case .owner:
            [
                "ftw.live.read", "ftw.history.read", "ftw.plan.read", "ftw.health.read", "ftw.assets.read",
                "ftw.dispatch.write", "ftw.mode.write", "ftw.members.read", "ftw.members.write",
            ]
        case .viewer: ["ftw.live.read"]
        }
    }
}

/// What a paired client may do.
public enum BoxRole: String, Sendable, CaseIterable {
    case owner, viewer
}

/// One mode in the catalogue that field 1 of telemetry indexes.
struct BoxMode: Sendable {
    var key: String
    var label: String
    var tooltip: String
    var tier: String

    static func catalogue(_ vintage: BoxVintage) -> [BoxMode] {
        vintage.hasCarLevels ? Array(all.prefix(8)) : all
    }

    private static let all = [
        BoxMode(
            key: "planner_passive_arbitrage", label: "Passive arbitrage",
            tooltip: "Charge from the cheapest available source. Never exports from the battery.",
            tier: "primary"),
        BoxMode(
            key: "planner_arbitrage", label: "Active arbitrage",
            tooltip: "Charge cheap, discharge into expensive hours.", tier: "primary"),
        BoxMode(
            key: "idle", label: "Stop batteries",
            tooltip: "Hold every battery at 0 W for as long as this mode is on.", tier: "advanced"),
        BoxMode(
            key: "self_consumption", label: "Self (manual)",
            tooltip: "Manual self-consumption, no plan.", tier: "advanced"),
        BoxMode(
            key: "peak_shaving", label: "Peak",
            tooltip: "Limit grid import to the configured peak limit.", tier: "advanced"),
        BoxMode(
            key: "charge", label: "Charge", tooltip: "Force full charge regardless of price.",
            tier: "advanced"),
        BoxMode(
            key: "planner_self", label: "Planner (self)",
            tooltip: "Forecast-driven self-consumption.", tier: "hidden"),
        BoxMode(
            key: "planner_cheap", label: "Planner (cheap)",
            tooltip: "Grid-charges during cheap hours, never exports.", tier: "hidden"),
        BoxMode(
            key: "priority", label: "Priority", tooltip: "Fill the highest-priority battery first.",
            tier: "hidden"),
        BoxMode(
            key: "weighted", label: "Weighted",
            tooltip: "Distribute dispatch across batteries by configured weights.", tier: "hidden"),
    ]
}
