import Ambient
import EnergyModel
import FoundationEssentials
import Synchronization

/// A family house with sun, battery, car and prices, in simulated physics.
///
/// Everything follows from the seed and the time: the same house does the same
/// again. It moves when somebody looks; nothing runs in the background.
public final class SimulatedHouse: Sendable {
    public let settings: SimulatedHouseSettings
    public let clock: HouseClock
    private let model: Mutex<HouseModel>

    /// - Parameter clock: The time in the house; see ``HouseClock``.
    public init(settings: SimulatedHouseSettings = SimulatedHouseSettings(), clock: HouseClock) {
        self.settings = settings
        self.clock = clock
        model = Mutex(HouseModel(settings: settings, now: clock.now))
    }

    /// Lets the house catch up with its clock, then looks at it or changes it.
    func now<R: Sendable>(_ body: (inout HouseModel) -> sending R) -> R {
        model.withLock { model in
            model.advance(to: clock.now)
            return body(&model)
        }
    }

    /// What flows at this moment.
    public var flows: HouseFlows { now { $0.flows } }
    /// State of charge of the house battery, 0 to 1; `nil` without a battery.
    public var batterySoc: Double? { now { $0.batterySoc } }
    /// The mode the house runs in, by its key.
    public var mode: String { now { $0.mode } }

    /// Arranges the car of one loadpoint.
    ///
    /// - Parameter loadpoint: Its id; the first loadpoint when `nil`.
    public func arrange(_ situation: CarSituation, loadpoint: String? = nil) {
        now { model in
            let index = loadpoint.map { model.charger($0) ?? -1 } ?? 0
            model.arrange(situation, at: index)
        }
    }

    /// Plugs the car in, unread, or pulls the cable; its daily coming and going stops.
    public func plug(_ isIn: Bool, loadpoint: String? = nil) {
        now { model in
            guard let index = loadpoint.map({ model.charger($0) ?? -1 }) ?? 0 as Int?,
                model.chargers.indices.contains(index)
            else { return }
            model.chargers[index].followsRoutine = false
            if isIn { model.chargers[index].plugIn() } else { model.chargers[index].unplug(at: model.at) }
            model.replan("loadpoint_plugged_in")
        }
    }

    /// A person at the box itself orders the car to charge, or with `nil` releases it.
    public func hold(_ powerW: Double?, loadpoint: String? = nil) {
        now { model in
            guard let index = loadpoint.map({ model.charger($0) ?? -1 }) ?? 0 as Int?,
                model.chargers.indices.contains(index)
            else { return }
            model.chargers[index].hold = powerW.map { Charger.Hold(powerW: max(0, $0), startedAt: model.at) }
            model.advance(to: model.at)
        }
    }

    /// Makes a new plan, as a box does by itself every quarter of an hour.
    public func replan() { now { $0.replan("scheduled") } }
}
