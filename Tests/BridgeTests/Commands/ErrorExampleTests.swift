import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

/// Whoever types what an error gave as an example must not meet the next error.
@Suite struct ErrorExampleTests {
    private let now = Moment(monotonic: .seconds(1_000), wall: morning)

    private func parse(
        _ path: String, _ payload: JSONValue, least: Double? = 1_380, most: Double? = 11_000
    ) -> CommandParser.Result {
        let site = houseWithCars().changed { house in
            for index in house.cars?.indices ?? 0..<0 {
                house.cars?[index].loadpoint.minPowerW = least
                house.cars?[index].loadpoint.maxPowerW = most
            }
        }
        let parser = CommandParser(
            household: HouseholdZone(boxZone: "Europe/Stockholm", configured: .utc), isReadOnly: false,
            open: Set(CommandName.allCases), site: site)
        let bytes = payload.stringValue.map { Array($0.utf8) } ?? payload.bytes
        return parser.parse(
            Message("ftw/home/\(path)", bytes), topic: CommandTopic(path: path), ownID: "own", now: now)
    }

    private func isTaken(_ result: CommandParser.Result) -> Bool {
        if case .command = result { true } else { false }
    }

    private func detail(_ result: CommandParser.Result) -> LocalText? {
        if case .refused(let report, _) = result { report.detail } else { nil }
    }

    /// What stands after such a word, taken apart.
    private func examples(_ text: String, after mark: String, _ separators: [String]) -> [String] {
        guard let start = text.firstRange(of: mark)?.upperBound else { return [] }
        var rest = String(text[start...])
        if rest.hasSuffix(".") { rest.removeLast() }
        for separator in separators { rest = rest.replacing(separator, with: "|") }
        return rest.split(separator: "|").map(String.init)
    }

    @Test(arguments: [
        (1_380.0, 11_000.0), (4_140, 11_000), (4_140.4, 11_039.6), (1_380, 3_680), (11_000, 11_000),
        (2_300, 2_304), (3_333, 3_334), (0, 22_000), (6_900, 7_000), (7_361, 7_363), (4_140, 43_000),
        (0, 230), (10_950, 11_000),
    ])
    func aPowerThatTheErrorNamesIsTaken(least: Double, most: Double) throws {
        func wish(_ power: String) -> JSONValue { ["value": "charge_now", "power": .string(power)] }
        func ask(_ power: String) -> CommandParser.Result {
            parse("car/garage/control/set", wish(power), least: least, most: most)
        }
        for wrong in ["999 kW", "full", "0", "5 A"] {
            let text = try #require(detail(ask(wrong)))
            let english = examples(text.en, after: "such as ", [" or "])
            let swedish = examples(text.sv, after: ", som ", [" eller "])
            #expect(!english.isEmpty && english.count == swedish.count, "\(text)")
            for example in english + swedish { #expect(isTaken(ask(example)), "\(example): \(text)") }
            // The limits themselves too.
            let range = text.en.split(separator: " ").compactMap { Double($0) }.prefix(2)
            for limit in range where limit > 0 { #expect(isTaken(ask("\(Int(limit))")), "\(text)") }
        }
    }

    private struct Row: Sendable {
        var path: String
        var wrong: JSONValue
        var en: String
        var sv: String
        var separators: [String] = []
        /// The whole payload for an example; as typed if nothing else is said.
        var wish: @Sendable (String) -> JSONValue = { .string($0) }
    }

    private static let rows: [Row] = [
        Row(path: "level/set", wrong: "full", en: "such as ", sv: ", som "),
        Row(path: "level/set", wrong: "0.62", en: "such as ", sv: ", som "),
        Row(path: "level/adjust", wrong: "much", en: "such as ", sv: ", som "),
        Row(
            path: "control/set", wrong: "fast", en: "allowed are ", sv: "tillåtna är ",
            separators: [", ", " and ", " och "]),
        Row(
            path: "control/set", wrong: ["value": "charge_now", "until": "soon"], en: "such as ",
            sv: ", som ",
            wish: { ["value": "charge_now", "until": .string($0)] }),
        Row(
            path: "goal/set", wrong: "soon", en: "written like ", sv: "skrivs som ",
            separators: [", like ", ", som ", ", or ", ", eller "]),
        Row(
            path: "goal/set", wrong: ["by": "soon"], en: "such as ", sv: "klockslag som ",
            wish: { ["by": .string($0)] }),
        Row(
            path: "goal/set", wrong: ["days": "some"], en: "days are ", sv: "dagar är ",
            separators: [", ", " or names such as ", " eller namn som "], wish: { ["days": .string($0)] }),
        Row(
            path: "surplus_only/set", wrong: "some", en: "allowed are ", sv: "tillåtna är ",
            separators: [" and ", " och "]),
    ]

    @Test(arguments: rows.indices)
    func whatAnErrorGivesAsAnExampleIsTaken(index: Int) throws {
        let row = Self.rows[index]
        let path = "car/garage/\(row.path)"
        let text = try #require(detail(parse(path, row.wrong)), "\(row.wrong)")
        let found =
            examples(text.en, after: row.en, row.separators)
            + examples(text.sv, after: row.sv, row.separators)
        #expect(found.count >= 2, "\(text)")
        for example in found { #expect(isTaken(parse(path, row.wish(example))), "\(example): \(text)") }
    }
}
