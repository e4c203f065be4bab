import EnergyModel
import FoundationEssentials

/// Energy that flowed, in buckets of five minutes.
struct EnergyLedger: Sendable {
    struct Energy: Sendable, Equatable {
        var importWh = 0.0
        var exportWh = 0.0
        var pvWh = 0.0
        var chargedWh = 0.0
        var dischargedWh = 0.0
        var loadWh = 0.0
        var carWh = 0.0

        static func += (sum: inout Energy, more: Energy) {
            sum.importWh += more.importWh
            sum.exportWh += more.exportWh
            sum.pvWh += more.pvWh
            sum.chargedWh += more.chargedWh
            sum.dischargedWh += more.dischargedWh
            sum.loadWh += more.loadWh
            sum.carWh += more.carWh
        }

        /// The flows by the names of the energy history, each with its asset.
        var flows: [(name: String, asset: String, wh: Double)] {
            [
                ("grid_import", "grid-meter", importWh), ("grid_export", "grid-meter", exportWh),
                ("pv_generation", "roof-pv", pvWh), ("battery_charge", "house-battery", chargedWh),
                ("battery_discharge", "house-battery", dischargedWh), ("consumer_use", "house", loadWh),
                ("vehicle_charge", "garage-charger", carWh),
            ]
        }
    }
    static let bucketSeconds: Int64 = 300
    /// Older buckets are forgotten.
    static let keptSeconds: Int64 = 8 * 86_400
    /// By number of the bucket since 1970.
    private var buckets: [Int64: Energy] = [:]

    mutating func add(_ flows: HouseFlows, at instant: Date, seconds: Double) {
        let hours = seconds / 3_600
        var energy = Energy()
        energy.importWh = max(0, flows.gridW) * hours
        energy.exportWh = max(0, -flows.gridW) * hours
        energy.pvWh = -flows.pvW * hours
        energy.chargedWh = max(0, flows.batteryW) * hours
        energy.dischargedWh = max(0, -flows.batteryW) * hours
        energy.loadWh = flows.loadW * hours
        energy.carWh = flows.totalEVW * hours
        add(energy, at: instant)
    }

    /// Counts energy in the bucket of that instant.
    mutating func add(_ energy: Energy, at instant: Date) {
        guard let second = Int64(exactly: instant.timeIntervalSince1970.rounded(.down)) else { return }
        let number = second / Self.bucketSeconds
        if buckets[number] == nil {
            let oldest = number - Self.keptSeconds / Self.bucketSeconds
            if buckets.count > Int(Self.keptSeconds / Self.bucketSeconds) {
                buckets = buckets.filter { $0.key >= oldest }
            }
        }
        buckets[number, default: Energy()] += energy
    }

    /// All that flowed in the buckets that are kept.
    var total: Energy { buckets.values.reduce(into: Energy()) { $0 += $1 } }

    /// What flowed in the buckets that begin in `range`; `nil` if none is known.
    func energy(in range: Range<Date>) -> Energy? {
        let first = Int64(range.lowerBound.timeIntervalSince1970 / 300)
        let end = Int64((range.upperBound.timeIntervalSince1970 / 300).rounded(.up))
        guard first < end, end - first <= 200_000 else { return nil }
        var sum: Energy?
        for number in first..<end {
            guard let energy = buckets[number] else { continue }
            var total = sum ?? Energy()
            total += energy
            sum = total
        }
        return sum
    }
}
