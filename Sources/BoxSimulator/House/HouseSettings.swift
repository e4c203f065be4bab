public import EnergyModel

/// What the simulated house is made of.
public struct SimulatedHouseSettings: Sendable {
    /// Weather, habits and prices follow from this number alone.
    public var seed: UInt64 = 1
    /// The household's zone: days, prices and ready times follow its clock.
    public var zone: Zone = Zone(named: "Europe/Stockholm") ?? .utc
    /// Degrees north.
    public var latitude = 59.33
    /// Degrees east.
    public var longitude = 18.07
    /// Solar panels at their best, in watts; 0 for a roof without.
    public var pvPeakW = 8_000.0
    /// House battery, in watt-hours; `nil` for a house without.
    public var battery: BatterySettings? = BatterySettings()
    public var chargers: [ChargerSettings] = [ChargerSettings()]
    /// Price area and money. Prices are in hundredths of this currency per kWh.
    public var priceZone = "SE3"
    public var currency = "SEK"

    public init() {}

    public struct BatterySettings: Sendable {
        public var capacityWh = 10_000.0
        /// The most it charges or discharges, in watts.
        public var maxW = 5_000.0
        /// State of charge when the simulation starts, 0 to 1.
        public var soc = 0.55
        /// The battery is not emptied below this, 0 to 1.
        public var floorSoc = 0.1
        public init() {}
    }

    public struct ChargerSettings: Sendable {
        /// The loadpoint's id, as commands and routes name it.
        public var id: String
        /// Its driver, which is also its source in telemetry.
        public var driver: String
        public var minW = 4_140.0
        public var maxW = 11_000.0
        /// 1 or 3.
        public var phases = 3
        /// Between a phase and neutral.
        public var voltage = 230.0
        /// The car's battery, in watt-hours.
        public var carCapacityWh = 60_000.0
        /// Whether somebody told the box that size; else it is the box's guess of 60 kWh.
        public var capacityConfigured = true
        public var carName = "Family car"

        public init(id: String = "garage", driver: String = "garage-charger") {
            self.id = id
            self.driver = driver
        }
    }
}

/// What flows in the house at one moment, in watts.
///
/// The sum at the meter: `gridW = loadW + batteryW + pvW + Σ evW`.
public struct HouseFlows: Sendable, Equatable {
    public var loadW = 0.0
    /// Never positive.
    public var pvW = 0.0
    /// Positive while the battery charges.
    public var batteryW = 0.0
    /// Per loadpoint id; never negative.
    public var evW: [String: Double] = [:]
    public var totalEVW: Double { evW.values.reduce(0, +) }
    public var gridW: Double { loadW + batteryW + pvW + totalEVW }
}
