import Ambient
import MQTTTypes
import Testing

@testable import MQTTClient

@Suite struct RedialMachineTests {
    private static func settings(
        _ preference: MQTTSettings.ProtocolPreference = .newest
    ) -> MQTTSettings {
        MQTTSettings(host: "broker", port: 1883, clientID: "bridge", protocolPreference: preference)
    }
    private var machine = RedialMachine(settings: settings())

    /// How long after the broker's return we are back, with the worst luck an
    /// attempt of `length` and jitter of `chance` can have.
    private func back(after absence: Duration, attempt length: Duration, chance: Double) -> Duration {
        var machine = RedialMachine(settings: Self.settings())
        _ = machine.dial(at: .zero)
        _ = machine.accepted(at: .zero)
        var now = Duration.seconds(100)
        let back = now + absence
        now += machine.ended(.closed, at: now, chance: chance).delay
        while now < back {
            _ = machine.dial(at: now)
            let end: ConnectionEnd =
                length == .zero ? .connectFailed(errno: 111) : .timedOut(reached: false)
            now += length
            now += machine.ended(end, at: now, chance: chance).delay
        }
        return now - back
    }

    @Test(
        arguments: [Duration.seconds(40), .seconds(300), .seconds(7_200)], [Duration.zero, .seconds(15)])
    func weAreBackWithinAMinute(_ absence: Duration, _ attempt: Duration) {
        for step in 0...99 {
            #expect(back(after: absence, attempt: attempt, chance: Double(step) / 100) <= .seconds(60))
        }
    }

    @Test func afterAMinuteOrTwoWeAreBackWithinTenSeconds() {
        for step in 0...99 {
            #expect(back(after: .seconds(70), attempt: .zero, chance: Double(step) / 100) <= .seconds(10))
        }
    }

    @Test func theWaitIsARandomPartOfACeilingThatDoubles() {
        let early = (1...6).map { RedialMachine.delay(failures: $0, away: .zero, chance: 1) }
        #expect(early == [1, 2, 4, 5, 5, 5].map { .seconds($0) })
        let late = (1...8).map { RedialMachine.delay(failures: $0, away: .seconds(180), chance: 1) }
        #expect(late == [1, 2, 4, 8, 16, 32, 40, 40].map { .seconds($0) })
        #expect(RedialMachine.delay(failures: 7, away: .seconds(180), chance: 0.5) == .seconds(20))
        #expect(RedialMachine.delay(failures: Int.max, away: .seconds(180), chance: 0) == .milliseconds(250))
        #expect(RedialMachine.delay(failures: 0, away: .zero, chance: .nan) >= .milliseconds(250))
    }

    @Test mutating func onlyAnAcceptedConnectionStartsTheWaitAnew() {
        var now = Duration.zero
        var delays: [Duration] = []
        for end in [ConnectionEnd.refused(reason: 0x87), .closed, .keepAlive, .tls(.wrongHost)] {
            _ = machine.dial(at: now)
            delays.append(machine.ended(end, at: now, chance: 1).delay)
            now += .seconds(1)
        }
        #expect(delays == [1, 2, 4, 5].map { .seconds($0) })
        _ = machine.dial(at: now)
        _ = machine.accepted(at: now)
        #expect(machine.ended(.closed, at: now + .seconds(60), chance: 1).delay == .seconds(1))
    }

    @Test mutating func aRefusedVersionIsTriedInTheOtherAtOnceAndRemembered() {
        #expect(machine.dial(at: .zero).version == .v5)
        let redial = machine.ended(.refused(reason: 0x84), at: .zero, chance: 1)
        #expect(redial.delay == .milliseconds(250))
        #expect(machine.dial(at: .seconds(1)).version == .v311)
        _ = machine.accepted(at: .seconds(1))
        _ = machine.ended(.closed, at: .seconds(3_000), chance: 1)
        #expect(machine.dial(at: .seconds(3_001)).version == .v311)
        _ = machine.accepted(at: .seconds(3_001))
        _ = machine.ended(.closed, at: .seconds(30_000), chance: 1)
        #expect(machine.dial(at: .seconds(30_001)).version == .v5)
    }

    @Test mutating func aBrokerThatRefusesBothVersionsIsAskedInTurn() {
        var versions: [BrokerSession.Version] = []
        for second in 0..<4 {
            versions.append(machine.dial(at: .seconds(second)).version)
            _ = machine.ended(.refused(reason: 0x84), at: .seconds(second), chance: 0)
        }
        #expect(versions == [.v5, .v311, .v5, .v311])
    }

    @Test mutating func aBrokerThatClosesOnMQTT5IsTriedInTheOther() {
        var versions: [BrokerSession.Version] = []
        for second in 0..<5 {
            versions.append(machine.dial(at: .seconds(second)).version)
            _ = machine.ended(.closed, at: .seconds(second), chance: 0)
        }
        #expect(versions == [.v5, .v5, .v5, .v311, .v5])
    }

    @Test(arguments: [
        (MQTTSettings.ProtocolPreference.v5, BrokerSession.Version.v5), (.v311, .v311),
    ])
    func aVersionThatWasChosenStays(
        _ preference: MQTTSettings.ProtocolPreference, _ version: BrokerSession.Version
    ) {
        var machine = RedialMachine(settings: Self.settings(preference))
        for second in 0..<6 {
            #expect(machine.dial(at: .seconds(second)).version == version)
            _ = machine.ended(
                second % 2 == 0 ? .refused(reason: 0x84) : .closed, at: .seconds(second), chance: 0)
        }
    }

    @Test mutating func anAddressThatDoesNotAnswerGivesWayToTheNext() {
        #expect(machine.dial(at: .zero).addressTurn == 0)
        _ = machine.ended(.timedOut(reached: false), at: .zero, chance: 0)
        #expect(machine.dial(at: .seconds(1)).addressTurn == 1)
        _ = machine.ended(.refused(reason: 0x87), at: .seconds(1), chance: 0)
        #expect(machine.dial(at: .seconds(2)).addressTurn == 1)
        _ = machine.accepted(at: .seconds(2))
        _ = machine.ended(.closed, at: .seconds(60), chance: 0)
        #expect(machine.dial(at: .seconds(61)).addressTurn == 1)
    }

    @Test mutating func aLossIsSaidOnceAndAgainEveryTenMinutes() {
        var said: [Int] = []
        for second in stride(from: 0, to: 3_000, by: 10) {
            _ = machine.dial(at: .seconds(second))
            if machine.ended(.connectFailed(errno: 111), at: .seconds(second), chance: 0).announce != nil {
                said.append(second)
            }
        }
        #expect(said == [0, 600, 1_200, 1_800, 2_400])
        _ = machine.dial(at: .seconds(3_000))
        #expect(machine.accepted(at: .seconds(3_000)) == true)
    }

    @Test mutating func anotherReasonIsSaidAtOnce() {
        #expect(machine.ended(.connectFailed(errno: 111), at: .zero, chance: 0).announce == .warning)
        #expect(machine.ended(.refused(reason: 0x87), at: .seconds(1), chance: 0).announce == .error)
        #expect(machine.ended(.stopped, at: .seconds(2), chance: 0).announce == nil)
        #expect(machine.ended(.stopped, at: .seconds(2), chance: 0).loss.retryIn == nil)
    }

    @Test mutating func aQuarrelOverTheClientIdIsSaidOnceAndSlowsDown() {
        var now = Duration.zero
        var delays: [Duration] = []
        var said = 0
        for _ in 0..<5 {
            _ = machine.dial(at: now)
            _ = machine.accepted(at: now)
            now += .seconds(5)
            let redial = machine.ended(.dismissed(reason: 0x8E), at: now, chance: 0.5)
            #expect(redial.loss.code == .takenOver)
            if redial.announce != nil { said += 1 }
            delays.append(redial.delay)
        }
        #expect(delays == [90, 180, 360, 450, 450].map { .seconds($0) })
        #expect(said == 1)
        #expect(machine.accepted(at: now) == false)
        #expect(
            machine.ended(.dismissed(reason: 0x8E), at: now + .seconds(700), chance: 0).delay == .seconds(60))
    }

    @Test mutating func closesOneAfterTheOtherAreTakenForAQuarrelWhenNothingElseTells() {
        var codes: [BrokerLoss.Code] = []
        for round in 0..<5 {
            _ = machine.dial(at: .seconds(round))
            _ = machine.accepted(at: .seconds(round))
            codes.append(machine.ended(.closed, at: .seconds(round + 1), chance: 0).loss.code)
        }
        #expect(codes == [.closed, .closed, .closed, .takenOver, .takenOver])
        _ = machine.dial(at: .seconds(10))
        _ = machine.ended(.connectFailed(errno: 111), at: .seconds(10), chance: 0)
        _ = machine.accepted(at: .seconds(11))
        #expect(machine.ended(.closed, at: .seconds(12), chance: 0).loss.code == .closed)
    }

    @Test mutating func aBadNetworkIsNoQuarrelWhileTheClaimIsOurs() {
        for round in 0..<50 {
            _ = machine.dial(at: .seconds(round))
            _ = machine.accepted(at: .seconds(round))
            machine.claimRead(ours: round > 0)  // at first that of an earlier run
            #expect(machine.ended(.closed, at: .seconds(round + 1), chance: 0).loss.code == .closed)
        }
    }

    @Test mutating func theClaimOfAnotherTwiceInARowIsAQuarrel() {
        var codes: [BrokerLoss.Code] = []
        for (round, ours) in [true, false, true, false, false].enumerated() {
            _ = machine.dial(at: .seconds(round * 30))
            _ = machine.accepted(at: .seconds(round * 30))
            machine.claimRead(ours: ours)
            codes.append(machine.ended(.closed, at: .seconds(round * 30 + 20), chance: 0).loss.code)
        }
        #expect(codes == [.closed, .closed, .closed, .closed, .takenOver])
    }
}
