import EnergyModel
import FoundationEssentials
import JSONText
import Testing

/// Unix seconds as a date.
func at(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

/// The household of the examples; the tests fail plainly where the system has no zone database.
func stockholm() throws -> Zone { try #require(Zone(named: "Europe/Stockholm")) }

func home() throws -> HouseholdZone {
    HouseholdZone(boxZone: "Europe/Stockholm", configured: try stockholm())
}

/// One loadpoint from the members in `text`; `id` is put in.
func loadpoint(_ text: String) throws -> Loadpoint {
    let json = try JSONValue(parsing: "{\"id\":\"garage\"" + (text.isEmpty ? "" : ",\(text)") + "}")
    return try #require(Loadpoint(json))
}

/// A small generator whose sequence depends on nothing but its seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
