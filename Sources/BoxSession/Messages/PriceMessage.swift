import BoxLink

/// `price.get`: prices of `[fromMs, toMs)` in wall clock milliseconds
/// (FTW wire §6.9). Whole numbers on purpose: a float gets no answer at all.
struct PriceGetMessage: Equatable {
    static let type = Contract.MessageType.priceGet.rawValue
    var fromMs: Int64
    var toMs: Int64

    init(fromMs: Int64, toMs: Int64) {
        self.fromMs = fromMs
        self.toMs = toMs
    }

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        fromMs = try body.int("fromMs")
        toMs = try body.int("toMs")
    }

    var body: CBORValue { ["fromMs": .int(fromMs), "toMs": .int(toMs)] }
}

/// `price`: what energy costs, in minor currency units per kWh (FTW wire §6.9).
public struct PriceMessage: Sendable, Equatable {
    static let type = Contract.MessageType.price.rawValue

    /// One stretch with one price.
    public struct Slot: Sendable, Equatable {
        /// Wall clock, milliseconds since 1970.
        public var startMs: Int64
        /// Not always a quarter of an hour.
        public var durationMs: Int64
        /// The exchange alone; may be negative.
        public var spotMinor: Int64
        /// With tariff and tax.
        public var totalMinor: Int64
    }

    /// The bidding zone, such as `SE3`.
    public var zone: String
    /// ISO 4217.
    public var currency: String
    /// In the order of the box; the one running at the start of the window included.
    public var slots: [Slot]
    /// The slots do not cover the window asked for.
    public var isStale: Bool

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        zone = try body.text("zone")
        currency = try body.text("currency")
        slots = []
        for item in try body.array("slots") {
            let slot = try MessageBody(item)
            slots.append(
                Slot(
                    startMs: try slot.int("startMs"), durationMs: try slot.int("durationMs"),
                    spotMinor: try slot.int("spotMinor"), totalMinor: try slot.int("totalMinor")))
        }
        isStale = try body.bool("stale")
    }

    var body: CBORValue {
        [
            "zone": .text(zone), "currency": .text(currency),
            "slots": .array(
                slots.map {
                    [
                        "startMs": .int($0.startMs), "durationMs": .int($0.durationMs),
                        "spotMinor": .int($0.spotMinor), "totalMinor": .int($0.totalMinor),
                    ]
                }),
            "stale": .bool(isStale),
        ]
    }
}
