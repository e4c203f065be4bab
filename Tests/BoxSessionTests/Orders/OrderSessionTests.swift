import BoxLink
import EnergyModel
import FoundationEssentials
import TestSupport
import Testing

@testable import BoxSession

/// Orders frame by frame, with a box that is spoken by hand.
@Suite struct OrderSessionTests {
    /// What was told of an order so far.
    private final class Follower: Sendable {
        let told: Task<[BoxProgress], Never>

        init(_ stream: AsyncStream<BoxProgress>) {
            // Ends with the stream.
            told = Task { await stream.reduce(into: []) { $0.append($1) } }
        }
    }

    private func begin(
        _ stage: Stage, _ intent: Intent = .control(.plan), for duration: Duration = .seconds(30)
    ) async -> Follower {
        Follower(
            await stage.session.perform(
                BoxOrder(
                    id: "o", loadpoint: "garage", intent: intent, deadline: stage.time.monotonic + duration)))
    }

    /// The next command on the wire.
    private func command(_ stage: Stage) async throws -> CommandMessage {
        #expect(await eventually { stage.carrier.sentCount > 0 })
        let envelope = try #require(try stage.sent().map(\.envelope).last { $0.type == "cmd" })
        return try CommandMessage(body: envelope.body)
    }

    private func answer(_ stage: Stage, _ id: String, _ state: String, _ error: CBORValue = .null)
        async throws
    {
        var members: [(String, CBORValue)] = [("cmdId", .text(id)), ("state", .text(state))]
        if error.isNull {
            members.append(("observed", ["value": .float(0), "src": "core", "uptimeMs": 1]))
        } else {
            members.append(("error", error))
        }
        try await stage.say("cmd.result", .map(CBORMap(members)))
    }

    /// Seconds in which the box is there and says nothing about commands.
    private func pass(_ seconds: Int, _ stage: Stage) async throws {
        for _ in 0..<seconds {
            await stage.advance(.seconds(1))
            try await stage.say("tick", stage.box.tick())
        }
    }

    private func conflict(_ actual: Int64?) -> CBORValue {
        ["code": "E_CONFLICT", "retryable": true, "args": actual.map { ["actual": .int($0)] } ?? [:]]
    }

    // MARK: What goes out

    @Test func theBoxMayDoItNoLaterThanWeWait() async throws {
        let stage = try Stage()
        try await stage.goLive()
        for (patience, allowed) in [(Duration.seconds(30), Int64(5_000)), (.seconds(2), 2_000)] {
            let follower = await begin(stage, for: patience)
            let message = try await command(stage)
            #expect(message.operation == "loadpoint.hold" && message.rev == 1)
            #expect(message.args == ["id": "garage", "clear": true])
            #expect(message.notValidAfterMs == stage.box.uptimeMs + allowed)
            try await answer(stage, message.commandID, "applied")
            #expect(await follower.told.value == [.ended(.applied(.text("plan")))])
        }
    }

    @Test func everyCommandHasAnIdOfItsOwn() async throws {
        let stage = try Stage()
        try await stage.goLive()
        var ids: Set<String> = []
        for _ in 0..<10 {
            let follower = await begin(stage)
            let message = try await command(stage)
            ids.insert(message.commandID)
            try await answer(stage, message.commandID, "applied")
            _ = await follower.told.value
        }
        #expect(ids.count == 10)
    }

    @Test func beforeThereIsASessionItNeverArrives() async throws {
        let stage = try Stage()
        let follower = await begin(stage)
        #expect(await follower.told.value == [.ended(.neverArrived)])
        #expect(try stage.types().isEmpty)
    }

    // MARK: A revision that is old

    @Test func aConflictIsMetOnceWithTheFreshRevision() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let follower = await begin(stage)
        let first = try await command(stage)
        try await answer(stage, first.commandID, "rejected", conflict(9))
        let second = try await command(stage)
        #expect(second.rev == 9 && second.commandID != first.commandID && second.args == first.args)
        try await answer(stage, second.commandID, "applied")
        #expect(await follower.told.value == [.ended(.applied(.text("plan")))])
    }

    @Test func aSecondConflictIsTheEnd() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let follower = await begin(stage)
        try await answer(stage, command(stage).commandID, "rejected", conflict(9))
        try await answer(stage, command(stage).commandID, "rejected", conflict(10))
        guard case .ended(.refused(let reason))? = await follower.told.value.last else {
            Issue.record("not refused")
            return
        }
        #expect(reason.kind == .conflict && reason.boxCode == "E_CONFLICT")
        #expect(try stage.types().isEmpty)
    }

    @Test func withoutAFreshRevisionItIsNotTriedAgain() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let follower = await begin(stage)
        try await answer(stage, command(stage).commandID, "rejected", conflict(nil))
        guard case .ended(.refused(let reason))? = await follower.told.value.last else {
            Issue.record("not refused")
            return
        }
        #expect(reason.kind == .conflict)
    }

    @Test func noOtherRefusalIsTriedAgain() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let follower = await begin(stage)
        try await answer(
            stage, command(stage).commandID, "rejected",
            ["code": "E_UNAVAILABLE", "retryable": true, "args": ["dispatchBlockedBy": ["meter"]]])
        guard case .ended(.refused(let reason))? = await follower.told.value.last else {
            Issue.record("not refused")
            return
        }
        #expect(reason.kind == .dispatchBlocked)
        #expect(try !stage.types().contains("cmd"))
    }

    // MARK: Late and lost

    @Test func whatComesAfterTheEndChangesNothing() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let follower = await begin(stage)
        let message = try await command(stage)
        try await pass(2, stage)
        let again = try await command(stage)
        #expect(again == message)
        try await pass(3, stage)
        #expect(await follower.told.value == [.ended(.neverArrived)])
        try await stage.say("cmd.ack", ["cmdId": .text(message.commandID), "leaseId": "l", "expiresAtMs": 1])
        try await answer(stage, message.commandID, "applied")
        #expect(stage.lines.all.contains { $0.contains("a late answer to a command that has ended") })
    }

    @Test func aTerminatedSessionLeavesTheCommandOpen() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let follower = await begin(stage)
        let message = try await command(stage)
        try await stage.say("cmd.ack", ["cmdId": .text(message.commandID), "leaseId": "l", "expiresAtMs": 1])
        try await stage.say("session.terminate", ["reason": "revoked"])
        #expect(await follower.told.value.last == .linkBroke(acknowledged: true))
        #expect(await stage.site.link.state == .revoked)
    }

    /// However long the box takes, the end is the one that was asked for.
    @Test func aTimedChargingThatBrokeKeepsItsEnd() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let until = stage.time.wall + 7_200
        let endsAt = stage.time.monotonic + .seconds(7_200)
        let follower = await begin(stage, .control(.chargeNow(powerW: nil, until: until)))
        #expect(await eventually { stage.carrier.sentCount > 0 })
        let ask = try #require(try stage.sent().map(\.envelope).last)
        #expect(ask.body?["path"] == "/api/loadpoints")
        try await stage.answer(
            ask.id,
            body: Array(
                #"{"loadpoints":[{"id":"garage","plugged_in":true,"max_charge_w":11000,"phases":3}]}"#.utf8))
        let message = try await command(stage)
        try await stage.say("cmd.ack", ["cmdId": .text(message.commandID), "leaseId": "l", "expiresAtMs": 1])
        try await pass(12, stage)
        await stage.session.handle(.gone)
        #expect(await follower.told.value.last == .linkBroke(acknowledged: true))
        #expect(await stage.session.orders.broken.map(\.endsAt) == [endsAt])
    }

    @Test func moreOrdersThanFitAreTurnedAway() async throws {
        let stage = try Stage()
        try await stage.goLive()
        var followers: [Follower] = []
        for _ in 0..<OrderBook.maxRunning { followers.append(await begin(stage)) }
        #expect(await eventually { await stage.session.orders.commands.isFull })
        let one = await begin(stage)
        guard case .ended(.refused(let reason))? = await one.told.value.last else {
            Issue.record("not refused")
            return
        }
        #expect(reason.kind == .unavailable)
        await stage.session.handle(.gone)
        for follower in followers {
            #expect(await follower.told.value == [.linkBroke(acknowledged: false)])
        }
    }

    @Test func whoeverStopsListeningEndsTheWaiting() async throws {
        let stage = try Stage()
        try await stage.goLive()
        let stream = await stage.session.perform(
            BoxOrder(id: "o", loadpoint: "garage", intent: .control(.plan), deadline: .seconds(60)))
        let listening = Task { for await _ in stream {} }
        _ = try await command(stage)
        listening.cancel()
        #expect(await eventually { await stage.session.orders.commands.count == 0 })
        #expect(await eventually { await stage.session.orders.running == 0 })
    }
}
