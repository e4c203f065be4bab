import BoxLink
import JSONText
import Testing

/// The names in the code against the published list.
@Suite struct ContractTests {
    /// Just enough of the one file's layout: sections at the left margin,
    /// entries as `- name`, `- { key: value, … }` or `key: { … }`.
    struct Registry {
        private var sections: [String: [String]] = [:]

        init(_ text: String) {
            var section = ""
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                if line.first != " ", let colon = line.firstIndex(of: ":") {
                    section = String(line[..<colon])
                    let rest = line[line.index(after: colon)...]
                    if rest.contains("[") {
                        sections[section] = rest.split(whereSeparator: { " [],".contains($0) }).map(
                            String.init)
                    }
                } else {
                    sections[section, default: []].append(String(line))
                }
            }
        }

        func lines(_ section: String) throws -> [String] { try #require(sections[section], "no \(section)") }

        /// The plain names of a section.
        func names(_ section: String) throws -> [String] {
            try lines(section).map { line in
                String(line.drop { " -".contains($0) }.prefix { !" #".contains($0) })
            }
        }

        /// The entries of a section, with what stands before the brace under `""`.
        func entries(_ section: String) throws -> [[String: String]] {
            try lines(section).map { line in
                let parts = line.split(separator: "{", maxSplits: 1)
                let body = try #require(parts.last).prefix { $0 != "}" }
                var entry = ["": String(parts[0].filter { !" -:'".contains($0) })]
                for pair in body.split(separator: ",") {
                    let sides = pair.split(separator: ":").map { $0.filter { $0 != " " } }
                    if sides.count == 2 { entry[sides[0]] = sides[1] }
                }
                return entry
            }
        }

        /// Some members of every entry, a missing one as an empty text.
        func rows(_ section: String, _ keys: String...) throws -> [[String]] {
            try entries(section).map { entry in keys.map { entry[$0] ?? "" } }
        }
    }

    private let registry: Registry

    init() throws { registry = Registry(try Vectors.text("registry.yaml")) }

    @Test func theFieldsAreThePublishedOnes() throws {
        let ours = Contract.Field.allCases.map { [$0.key, $0.name, $0.unit ?? "null"] }
        #expect(try registry.rows("frozen_fields", "", "name", "unit") == ours)
    }

    @Test func theCapabilitiesAreThePublishedOnes() throws {
        #expect(try registry.names("capabilities") == Contract.Capability.allCases.map(\.rawValue))
    }

    @Test func theScopesAreThePublishedOnes() throws {
        let ours = Contract.Scope.allCases.map { [$0.rawValue, "\($0.isWrite)"] }
        #expect(try registry.rows("scopes", "name", "write") == ours)
    }

    @Test func theRolesAreThePublishedOnes() throws {
        #expect(try registry.rows("roles", "") == Contract.Role.allCases.map { [$0.rawValue] })
        let lines = try registry.lines("roles")
        #expect(lines[0].contains("scopes: ['*']") && Contract.Role.owner.scopes.count == 9)
        #expect(lines[1].contains("scopes: [ftw.live.read]") && Contract.Role.viewer.scopes == [.liveRead])
    }

    @Test func theOpsAreThePublishedOnes() throws {
        let ours = Contract.Op.allCases.map { op in
            [
                op.rawValue, op.scope.rawValue, op.needsMeter.map { "\($0)" } ?? "null",
                "\(op.isImplemented)", op.since.rawValue,
            ]
        }
        let published = try registry.rows("ops", "name", "scope", "needs_meter", "implemented", "since")
        #expect(published == ours)
        #expect(Contract.Vintage.base < .soc && Contract.Vintage.soc < .prefs)
    }

    @Test func theModesAreThePublishedOnes() throws {
        for (section, ours) in [("modes", Contract.modes), ("modes_base_only", Contract.modesBaseOnly)] {
            let published = try registry.rows(section, "key", "tier")
            #expect(published == ours.map { [$0.key, $0.tier.rawValue] })
        }
    }

    @Test func theErrorCodesAreThePublishedOnes() throws {
        let ours = Contract.ErrorCode.allCases.map { [$0.rawValue, "\($0.isRetryable)", "\($0.isSent)"] }
        #expect(try registry.rows("errors", "code", "retryable", "sent") == ours)
    }

    @Test func theStatesAreThePublishedOnes() throws {
        #expect(try registry.lines("source_states") == Contract.SourceState.allCases.map(\.rawValue))
    }

    @Test func theCapabilityHashesOfTheVectorsAreComputed() throws {
        let vectors = try Vectors.json("spec-vectors.json").list("capsHash")
        #expect(vectors.count == 2)
        for v in vectors {
            let caps = try v.list("caps").compactMap(\.stringValue)
            #expect(try Contract.capsHash(caps) == v.string("hash"))
            #expect(try Contract.capsHash(caps.reversed()) == v.string("hash"))
        }
    }

    @Test func theMessagesOfTheVectorsTravelOnTheirLanes() throws {
        for v in try Vectors.json("spec-vectors.json").list("frames") {
            let type = try #require(Contract.MessageType(rawValue: Envelope(decoding: v.hex("payload")).type))
            #expect(try Int64(type.lane.rawValue) == v.int("lane"), "\(type)")
        }
    }
}
