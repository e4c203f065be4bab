import EnergyModel
import FoundationEssentials

/// What the house means to do, slot by slot.
struct HousePlan: Sendable {
    struct Slot: Sendable {
        /// Start of the price quarter.
        var start: Date
        /// Where the first slot really begins: the moment of planning.
        var executionStart: Date?
        var price: PriceSlot
        /// Whether the price is published; else it is a forecast.
        var published: Bool
        var pvW = 0.0
        var loadW = 0.0
        var batteryW = 0.0
        var carW: [String: Double] = [:]
        /// House battery at the end of the slot, 0 to 1.
        var batterySoc = 0.0
        /// Cars at the end of the slot, 0 to 1.
        var carSoc: [String: Double] = [:]

        var end: Date { start.addingTimeInterval(900) }
        var gridW: Double { loadW + pvW + batteryW + carW.values.reduce(0, +) }
        /// Money over the slot, in hundredths; negative is income.
        var costMinor: Double {
            let kWh = gridW / 1_000 * 0.25
            return kWh * (gridW >= 0 ? price.totalMinor : price.spotMinor)
        }
    }
    var id: String
    var generatedAt: Date
    /// Why it was made, as the box words it.
    var trigger: String
    var mode: String
    var initialSoc: Double
    var slots: [Slot]
    /// Watt-hours missing in each planned car at its deadline.
    var shortfallWh: [String: Double]
    /// Mean total price over the plan; `nil` when it has no slots.
    var meanTotal: Double?

    func slot(at instant: Date) -> Slot? { slots.first { $0.start <= instant && instant < $0.end } }

    struct Window: Sendable, Equatable {
        var start: Date
        var end: Date
        var wh: Double
    }

    /// The stretches in which that car is to charge, from `now` on.
    func windows(of loadpoint: String, from now: Date) -> [Window] {
        var found: [Window] = []
        for slot in slots where slot.end > now {
            guard let power = slot.carW[loadpoint], power >= 100 else { continue }
            let start = max(slot.executionStart ?? slot.start, slot.start)
            let wh = power * slot.end.timeIntervalSince(start) / 3_600
            if let last = found.last, last.end == start {
                found[found.count - 1].end = slot.end
                found[found.count - 1].wh += wh
            } else {
                found.append(Window(start: start, end: slot.end, wh: wh))
            }
        }
        return found
    }
}

/// Makes a plan the simple way: dear quarters empty the battery, cheap ones
/// fill it, and cars get the cheapest quarters before their deadlines.
struct HousePlanner: Sendable {
    struct Car: Sendable {
        var id: String
        var soc: Double
        var goal: Double
        var deadline: Date
        var maxW: Double
        var capacityWh: Double
    }
    let settings: SimulatedHouseSettings
    let sun: Sun
    let load: HouseLoad
    var prices: DayAhead
    /// A day of quarters, and the one under way.
    static let slotCount = 97

    func plan(
        now: Date, mode: String, batterySoc: Double?, cars: [Car], trigger: String, number: Int
    ) -> HousePlan {
        var slots = emptySlots(from: now)
        var shortfall: [String: Double] = [:]
        for car in cars { shortfall[car.id] = schedule(car, in: &slots) }
        if let battery = settings.battery, let batterySoc {
            steer(battery, from: batterySoc, in: &slots, mode: mode)
        }
        let id = prices.noise.bits(.identifier, Int64(number))
        return HousePlan(
            id: UUIDText.text(high: id, low: prices.noise.bits(.identifier, ~Int64(number))),
            generatedAt: now, trigger: trigger, mode: mode, initialSoc: batterySoc ?? 0, slots: slots,
            shortfallWh: shortfall, meanTotal: Self.mean(slots))
    }

    private static func mean(_ slots: [HousePlan.Slot]) -> Double? {
        slots.isEmpty ? nil : slots.map(\.price.totalMinor).reduce(0, +) / Double(slots.count)
    }

    private func emptySlots(from now: Date) -> [HousePlan.Slot] {
        let first = (now.timeIntervalSince1970 / 900).rounded(.down) * 900
        let end = prices.publishedEnd(at: now)
        return (0..<Self.slotCount).map { index in
            let start = Date(timeIntervalSince1970: first + Double(index) * 900)
            let middle = start.addingTimeInterval(450)
            return HousePlan.Slot(
                start: start, executionStart: index == 0 && now > start ? now : nil,
                price: prices.price(at: start), published: start < end, pvW: -sun.forecastW(at: middle),
                loadW: load.forecastW(minuteOfDay: settings.zone.minuteOfDay(of: middle)))
        }
    }

    /// Gives the car its quarters.
    ///
    /// - Returns: The watt-hours that find no quarter before the deadline.
    private func schedule(_ car: Car, in slots: inout [HousePlan.Slot]) -> Double {
        var missing = max(0, (car.goal - car.soc) * car.capacityWh)
        let usable = slots.indices.filter { slots[$0].end <= car.deadline }
        let cheapest = usable.sorted {
            (slots[$0].price.totalMinor, $0) < (slots[$1].price.totalMinor, $1)
        }
        for index in cheapest where missing > 1 {
            let start = slots[index].executionStart ?? slots[index].start
            let hours = slots[index].end.timeIntervalSince(start) / 3_600
            guard hours > 0 else { continue }
            let powerW = min(car.maxW, missing / Charger.efficiency / hours)
            slots[index].carW[car.id] = powerW
            missing -= powerW * hours * Charger.efficiency
        }
        var soc = car.soc
        for index in slots.indices {
            let start = slots[index].executionStart ?? slots[index].start
            let hours = slots[index].end.timeIntervalSince(start) / 3_600
            soc += (slots[index].carW[car.id] ?? 0) * hours * Charger.efficiency / car.capacityWh
            slots[index].carSoc[car.id] = min(1, soc)
        }
        return missing > 1 ? missing : 0
    }

    private func steer(
        _ battery: SimulatedHouseSettings.BatterySettings, from soc: Double,
        in slots: inout [HousePlan.Slot], mode: String
    ) {
        let mean = Self.mean(slots) ?? 0
        var soc = soc
        for index in slots.indices {
            let slot = slots[index]
            let start = slot.executionStart ?? slot.start
            let hours = max(1.0 / 60, slot.end.timeIntervalSince(start) / 3_600)
            let wish = BatteryWish.power(
                mode: mode, netW: slot.loadW + slot.pvW, carW: slot.carW.values.reduce(0, +),
                price: slot.price.totalMinor, mean: mean, battery: battery)
            let most = min(battery.maxW, max(0, 1 - soc) * battery.capacityWh / hours)
            let least = -min(battery.maxW, max(0, soc - battery.floorSoc) * battery.capacityWh / hours)
            slots[index].batteryW = min(most, max(least, wish))
            soc += slots[index].batteryW * hours / battery.capacityWh
            slots[index].batterySoc = min(1, max(0, soc))
        }
    }
}

/// How a mode would steer the battery when nothing limited it.
enum BatteryWish {
    /// - Parameters:
    ///   - netW: House load and sun together: positive is what the house lacks.
    ///   - carW: What the cars draw. The battery leaves that to the grid.
    ///   - price: What a kWh costs now; `mean` over the plan.
    /// - Returns: Watts, positive to charge.
    static func power(
        mode: String, netW: Double, carW: Double, price: Double, mean: Double,
        battery: SimulatedHouseSettings.BatterySettings
    ) -> Double {
        let spare = max(0, -(netW + carW))
        let cover = netW > 0 ? -netW : spare
        switch mode {
        case "idle": return 0
        case "charge": return battery.maxW
        case "peak_shaving": return netW + carW > 5_000 ? 5_000 - netW - carW : spare
        case "planner_passive_arbitrage", "planner_arbitrage", "planner_cheap":
            if price < mean * 0.75, spare == 0 { return battery.maxW * 0.5 }
            if price > mean * 1.1 {
                return mode == "planner_arbitrage" && price > mean * 1.5 ? -battery.maxW : cover
            }
            return spare
        default: return cover
        }
    }
}

/// Texts in the shape of a UUID.
enum UUIDText {
    static func text(high: UInt64, low: UInt64) -> String {
        let version = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let variant = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = Array(hex(version) + hex(variant))
        let cuts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return cuts.map { String(digits[$0]) }.joined(separator: "-")
    }

    static func hex(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
