import BoxLink
import FoundationEssentials
import Testing

@testable import BoxSession

/// Traps of the wire description that a command meets on its way into bytes.
@Suite struct CommandMessageTests {
    private func command(
        _ args: CBORMap, guards: [CommandMessage.Guard] = []
    ) -> CommandMessage {
        CommandMessage(
            commandID: "01a22b58-8db2-7880-a4fe-7a80af5d77e2", operation: "loadpoint.hold", args: args,
            notValidAfterMs: 140_712, rev: 3, guards: guards)
    }

    @Test func trap7RevisionFieldAndDeadlineAreWholeNumbers() throws {
        let body = command([:], guards: [.init(field: 5, relation: .gt, value: 50)]).body
        #expect(body["notValidAfterMs"] == .int(140_712))
        #expect(body["expect"]?["rev"] == .int(3))
        let condition = body["expect"]?["guards"]?.arrayValue?.first
        #expect(condition?["fid"] == .int(5))
        #expect(condition?["value"] == .int(50))
    }

    @Test func trap7MillisecondsOfAPriceWindowAreWholeNumbers() {
        let bytes = PriceGetMessage(fromMs: 1_760_000_000_000, toMs: 1_760_086_400_000).body.encoded()
        // a2 66 fromMs 1b <8 bytes>: an integer head, not the float head fb.
        #expect(bytes[8] == 0x1b)
        #expect(!bytes.contains(0xfb))
    }

    @Test func trap16FractionsOfALevelStayFractions() {
        let body = command(["id": "garage", "soc": .float(0.62)]).body
        #expect(body["args"]?["soc"] == .float(0.62))
    }

    @Test func trap18AReleaseSaysClearAndNotZeroWatts() throws {
        let body = command(["id": "garage", "clear": true]).body
        #expect(body["args"]?.mapValue?.members.map(\.key) == ["id", "clear"])
    }

    @Test func trap19AResultIsReadWithoutAnyAck() throws {
        let result = try CommandResultMessage(body: [
            "cmdId": "a", "state": "rejected",
            "error": ["code": "E_CONFLICT", "retryable": true, "args": ["expected": 1, "actual": 2]],
        ])
        #expect(result.state == .rejected)
        #expect(result.refusal?.args["actual"] == .int(2))
    }

    @Test func trap20And22AnIDIsFreshEachTime() {
        let wall = Date(timeIntervalSince1970: 1_796_023_000)
        #expect(CommandID.make(at: wall) != CommandID.make(at: wall))
    }

    @Test func trap23AGuardNamesItsFieldByNumber() throws {
        let message = command([:], guards: [.init(field: 5, relation: .gte, value: 500.5)])
        #expect(try CommandMessage(body: message.body) == message)
    }

    @Test func trap28HalfFloatsAreRead() throws {
        // {cmdId: "a", state: "applied", observed: {src: "core", value: 2.0 as a half, uptimeMs: 1}}
        let bytes: [UInt8] =
            [0xa3, 0x65] + Array("cmdId".utf8) + [0x61, 0x61, 0x65] + Array("state".utf8) + [0x67]
            + Array("applied".utf8) + [0x68] + Array("observed".utf8) + [0xa3, 0x63] + Array("src".utf8)
            + [0x64] + Array("core".utf8) + [0x65] + Array("value".utf8) + [0xf9, 0x40, 0x00, 0x68]
            + Array("uptimeMs".utf8) + [0x01]
        let result = try CommandResultMessage(body: CBORValue(decoding: bytes))
        #expect(result.observed?.value == 2)
        #expect(result.state == .applied)
    }

    @Test func theRecordedRefusalsSayWhetherTheBoxLacksTheOperation() throws {
        let results = try Recording("commands").envelopes.filter { $0.envelope.type == "cmd.result" }
            .map { try CommandResultMessage(body: $0.envelope.body) }
        // battery.hold and loadpoint.soc.set on a box that has neither; the other two name an argument.
        #expect(results.compactMap(\.refusal).filter(\.isUnknownOperation).count == 2)
        #expect(results.compactMap(\.refusal).filter { $0.code == "E_UNKNOWN_OP" }.count == 4)
        let precondition = try #require(results.compactMap(\.refusal).first { $0.code == "E_PRECONDITION" })
        #expect(precondition.args["value"] == .float(2_000))
    }

    @Test func anIDCarriesTheWallClockAndItsVersion() {
        let id = CommandID.make(
            at: Date(timeIntervalSince1970: 1_796_023_553.458), random: Array(repeating: 0xff, count: 10))
        #expect(id == "01a22b58-8db2-7fff-bfff-ffffffffffff")
    }

    @Test(arguments: [-1e300, 1e300, -1])
    func anAbsurdClockStillMakesAnID(seconds: Double) {
        #expect(CommandID.make(at: Date(timeIntervalSince1970: seconds)).count == 36)
    }

    @Test func aResultOfALaterBoxKeepsItsWord() throws {
        let result = try CommandResultMessage(body: ["cmdId": "a", "state": "deferred"])
        #expect(result.state == nil)
        #expect(result.stateText == "deferred")
    }
}
