import EnergyModel
import FoundationEssentials

/// What somebody orders in another app of the household, or at the box itself.
public enum HouseholdOrder: Sendable, Equatable {
    /// The level that a person typed, 0 to 1.
    case level(Double)
    /// Charge with so many watts, pause with 0; `nil` back to the plan.
    case hold(Double?)
    /// Charge at the charger's full power.
    case chargeNow
    case goal(HouseholdGoal?)
    case surplusOnly(Bool)
}

/// A goal as an app of the household writes it.
public struct HouseholdGoal: Sendable, Equatable {
    /// 0 to 1.
    public var soc: Double
    /// Minutes after midnight on the household's clock, 0 to 1439.
    public var minute: Int
    /// Bit 0 is Monday; 0 is every day.
    public var days: Int
    public var recurring: Bool

    public init(soc: Double, minute: Int, days: Int = 0, recurring: Bool = true) {
        self.soc = soc
        self.minute = minute
        self.days = days
        self.recurring = recurring
    }
}

/// A household that goes on living while a bridge looks on.
extension SimulatedBox {
    /// The version text of the vintage that runs.
    public var buildName: String { build }

    /// The loadpoints that there are, in the box's order.
    public var loadpointIDs: [String] { house.now { $0.chargers.map(\.settings.id) } }

    /// Another app's order, carried out as the box would.
    ///
    /// - Parameter loadpoint: Its id; the first loadpoint when `nil`.
    /// - Returns: False when there is no such loadpoint, or a level is given and no car is plugged in.
    public func order(_ order: HouseholdOrder, loadpoint: String? = nil) -> Bool {
        let isDone = house.now { model -> Bool in
            guard let index = loadpoint.map({ model.charger($0) }) ?? model.chargers.indices.first else {
                return false
            }
            switch order {
            case .level(let soc):
                guard model.chargers[index].pluggedIn else { return false }
                let level = min(1, max(0, soc.isFinite ? soc : 0))
                model.chargers[index].confirm(soc: level)
                if model.chargers[index].report != .live { model.chargers[index].truth = level }
                model.replan("loadpoint_soc_corrected")
            case .hold(let power):
                model.chargers[index].hold = power.map {
                    Charger.Hold(powerW: max(0, $0.isFinite ? $0 : 0), startedAt: model.at)
                }
            case .chargeNow:
                model.chargers[index].hold = Charger.Hold(
                    powerW: model.chargers[index].settings.maxW, startedAt: model.at)
            case .goal(let goal): model.store(goal, index)
            case .surplusOnly(let isOn):
                model.chargers[index].surplusOnly = isOn
                model.replan(isOn ? "surplus_only_enabled" : "surplus_only_disabled")
            }
            return true
        }
        // Whose command it was does not matter to who looks on: the plan is another.
        if isDone { pushPlan() }
        return isDone
    }

    // MARK: Modes

    /// The catalogue that field 1 of telemetry indexes.
    var modes: [BoxMode] {
        BoxMode.catalogue(vintage).filter { !script.removedModes.contains($0.key) } + script.addedModes
    }

    /// The keys of the modes, in the catalogue's order.
    public var modeKeys: [String] { modes.map(\.key) }

    /// A box update brings a mode. Clients hear of it with their next greeting.
    ///
    /// - Returns: False when that key is there already, or there are 32 modes.
    public func addMode(key: String, label: String) -> Bool {
        guard !modeKeys.contains(key), modes.count < 32 else { return false }
        script.removedModes.remove(key)
        guard !modeKeys.contains(key) else { return true }
        script.addedModes.append(BoxMode(key: key, label: label, tooltip: "", tier: "advanced"))
        return true
    }

    /// A box update takes a mode away. Clients hear of it with their next greeting.
    ///
    /// - Returns: False when there is no such mode.
    public func removeMode(key: String) -> Bool {
        guard modeKeys.contains(key) else { return false }
        script.addedModes.removeAll { $0.key == key }
        script.removedModes.insert(key)
        return true
    }

    /// Somebody at the box changes the mode.
    ///
    /// - Returns: False when there is no such mode.
    public func setMode(key: String) -> Bool {
        guard modeKeys.contains(key) else { return false }
        house.now { model in
            model.mode = key
            model.replan("mode_changed")
        }
        return true
    }

    // MARK: Sources

    /// Lets a source fall silent, its last answer already so old that it is in that state.
    ///
    /// As far as the box's uptime goes back: a box that has just started has no old answers.
    public func silence(_ name: String, past limits: Int64) {
        board.set(name, .silent)
        board.age(name, byMs: board.staleAfterMs * limits + 1_000, uptimeMs: uptimeMs)
    }

    /// The state of each source, as the table of telemetry says it.
    public var sourceStates: [String: String] {
        let now = uptimeMs
        return Dictionary(
            board.names.map { ($0, board.state(of: $0, uptimeMs: now)) },
            uniquingKeysWith: { _, last in last })
    }
}

extension HouseModel {
    /// Stores a goal with both time fields; `nil` clears it.
    fileprivate mutating func store(_ goal: HouseholdGoal?, _ index: Int) {
        var schedule = Charger.Schedule()
        if let goal {
            let minute = min(1_439, max(0, goal.minute))
            let today = zone.day(of: at)
            let instant = zone.instant(today, minute: minute)
            let utc = Int((instant.timeIntervalSince1970 / 60).rounded(.down)) % 1_440
            schedule.soc = min(1, max(0, goal.soc.isFinite ? goal.soc : 0))
            schedule.localMinute = readsLocalMinute ? minute : nil
            schedule.utcMinute = (utc + 1_440) % 1_440
            schedule.days = goal.days & 127
            schedule.recurring = goal.recurring
        }
        chargers[index].schedule = schedule
        chargers[index].target = nil
        setTarget(index)
        replan("loadpoint_schedule_changed")
    }
}

extension SimulatedHouse {
    /// What a car does with what it is offered.
    public enum CarDraw: String, Sendable, CaseIterable {
        /// Takes all the charger can give, whoever asked for it; a person's hold goes first.
        case on
        /// Takes nothing.
        case off
        /// Takes what the box gives it.
        case auto
    }

    /// Changes what the car takes.
    ///
    /// - Parameter loadpoint: Its id; the first loadpoint when `nil`.
    public func setDraw(_ draw: CarDraw, loadpoint: String? = nil) {
        now { model in
            guard let index = loadpoint.map({ model.charger($0) }) ?? model.chargers.indices.first else {
                return
            }
            model.chargers[index].draw =
                switch draw {
                case .on: .all
                case .off: .nothing
                case .auto: .asOffered
                }
            model.advance(to: model.at)
        }
    }

    // MARK: Prices and energy

    /// Sets spot prices of one day by hand, in hundredths of the currency per kWh; the household
    /// pays `(spot + 40) × 1.25`.
    ///
    /// - Parameters:
    ///   - spotMinor: One value for each hour or quarter of that day, or one for all of it.
    ///     `nil` makes the day's prices by itself again.
    ///   - ahead: 0 is today, 1 is tomorrow.
    /// - Returns: `nil` when they are in force, else how many values that day takes.
    public func setPrices(_ spotMinor: [Double]?, daysAhead ahead: Int = 0) -> [Int]? {
        now { model -> [Int]? in
            let day = model.zone.day(of: model.at).adding(days: ahead)
            let bounds = model.zone.bounds(of: day)
            let hours = Int((bounds.upperBound.timeIntervalSince(bounds.lowerBound) / 3_600).rounded())
            let counts = [1, hours, hours * 4]
            if let spotMinor, !counts.contains(spotMinor.count) { return counts }
            model.planner.prices.setByHand[day] = spotMinor
            model.replan("prices_changed")
            return nil
        }
    }

    /// Makes every day's prices by itself again, tomorrow's known from 13:00.
    public func resetPrices() {
        now { model in
            model.planner.prices.setByHand = [:]
            model.planner.prices.isTomorrowPublished = nil
            model.replan("prices_changed")
        }
    }

    /// Whether tomorrow's prices are known already; `nil` follows the clock.
    public func setTomorrowPublished(_ isPublished: Bool?) {
        now { model in
            model.planner.prices.isTomorrowPublished = isPublished
            model.replan("prices_changed")
        }
    }

    /// What today or tomorrow costs per kWh before tariff and tax, hour by hour.
    public func spotMinor(daysAhead ahead: Int = 0) -> [Double] {
        now { model in
            let day = model.zone.day(of: model.at).adding(days: ahead)
            return model.prices.slots(of: day).enumerated().filter { $0.offset % 4 == 0 }.map(
                \.element.spotMinor)
        }
    }

    /// Lets the house have taken that much more from the grid just now.
    public func addImport(wh: Double) {
        guard wh.isFinite, wh > 0 else { return }
        now { model in
            model.ledger.add(EnergyLedger.Energy(importWh: wh, loadWh: wh), at: model.at)
        }
    }
}
