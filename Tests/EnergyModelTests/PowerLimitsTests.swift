import EnergyModel
import Testing

@Suite struct PowerLimitsTests {
    static let rows: [PowerLimits] = [
        (0, 11_040), (1_380, 11_000), (4_140, 11_000), (4_140.4, 11_039.6), (1_380, 3_680), (11_000, 11_000),
        (7_360.2, 7_361.9), (5_999.5, 6_000.5), (0, 0.9), (0, 1), (2_300, 2_304), (0.2, 1.4), (3, 22_000),
        (-5, 7_400), (9_000, 4_000), (.nan, 11_000), (.nan, .nan), (0, 1e300), (0, .infinity),
        (1e300, 1e300),
    ].map { PowerLimits(leastW: $0.0, mostW: $0.1) }

    @Test(arguments: rows)
    func anExampleAndTheNamedLimitsAreInside(limits: PowerLimits) {
        if let example = limits.example { #expect(limits.allows(Double(example))) }
        for text in [limits.text.least, limits.text.most] {
            if let watts = Double(text), watts > 0 { #expect(limits.allows(watts), "\(text)") }
        }
    }

    static let examples: [(limits: PowerLimits, watts: Int64?)] = [
        (PowerLimits(leastW: 4_140, mostW: 11_000), 7_500),
        (PowerLimits(leastW: 1_380, mostW: 11_000), 6_000),
        (PowerLimits(leastW: 0, mostW: 11_040), 5_500),
        (PowerLimits(leastW: 11_000, mostW: 11_000), 11_000),
        (PowerLimits(leastW: 2_300, mostW: 2_304), 2_300),
        (PowerLimits(leastW: 7_360.2, mostW: 7_360.8), nil),
        (PowerLimits(leastW: 0, mostW: 0), nil),
    ]

    @Test(arguments: examples)
    func anExampleIsAsRoundAsFits(limits: PowerLimits, watts: Int64?) { #expect(limits.example == watts) }
}
