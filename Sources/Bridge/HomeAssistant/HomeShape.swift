import EnergyModel
import JSONText

/// What of a site decides which entities there are and how they are named.
struct HomeShape: Sendable, Equatable {
    struct Device: Sendable, Equatable {
        var level: TopicLevel
        var name: String
        var roles: Set<Source.Role>
    }
    struct Car: Sendable, Equatable {
        var level: TopicLevel
        /// The loadpoint's name as typed.
        var name: String
        /// Its charger among the sources; `nil` when the box does not tell.
        var source: TopicLevel?
    }
    /// Stands for the box in ids; never changes for a box.
    var identity: String
    var sources: [Device]
    var cars: [Car] = []
    var presence: Presence
    var modes: [String]
    var boxBuild: String?
}

/// Which things the site has, as far as anybody told us.
///
/// A thing is there once it was seen. It is gone only when the box says so: its
/// sources are known with what they measure, and none of them measures this.
/// Merely not hearing of a thing changes nothing, or a quiet source would cost
/// people their entities.
struct Presence: Sendable, Equatable {
    var hasSolar = false
    var hasBattery = false
    var hasCar = false

    init() {}

    init(_ saved: JSONValue?) {
        let known = Set((saved?.arrayValue ?? []).compactMap(\.stringValue))
        hasSolar = known.contains("solar")
        hasBattery = known.contains("battery")
        hasCar = known.contains("car")
    }

    var saved: JSONValue {
        .array(
            [("solar", hasSolar), ("battery", hasBattery), ("car", hasCar)].filter(\.1).map { name, _ in
                .string(name)
            })
    }

    /// Cheap: whether there may be something to learn.
    func differs(from state: SiteState) -> Bool {
        Self.speaks(state.power?.solarW) != hasSolar || Self.speaks(state.power?.carW) != hasCar
            || (state.battery?.soc != nil) != hasBattery
    }

    /// - Parameter state: A state with live values.
    mutating func learn(_ state: SiteState) {
        let roles = state.sources.reduce(into: Set<Source.Role>()) { $0.formUnion($1.roles) }
        let areRolesKnown = !roles.subtracting([.meter]).isEmpty
        func next(_ isThere: Bool, _ isSeen: Bool, _ role: Source.Role) -> Bool {
            if areRolesKnown { return isSeen || roles.contains(role) }
            return isSeen || isThere
        }
        hasSolar = next(hasSolar, Self.speaks(state.power?.solarW), .solar)
        hasBattery = next(
            hasBattery, state.battery?.soc != nil || Self.speaks(state.power?.batteryW), .battery)
        hasCar = next(hasCar, Self.speaks(state.power?.carW), .charger)
    }

    /// A house without panels says 0 W of them too; only power proves a thing.
    private static func speaks(_ watts: Double?) -> Bool { (watts ?? 0) != 0 }
}
