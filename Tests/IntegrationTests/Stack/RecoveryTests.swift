import Ambient
import BoxLink
import BoxSession
import BoxSimulator
import Configuration
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Persistence
import Testing

/// Something breaks, comes back, and the retained picture is a cold start's again.
@Suite(.needsBroker, .timeLimit(.minutes(4))) struct RecoveryTests {
    @Test func aSecondColdStartLooksLikeTheFirst() async throws {
        let stage = try await Stage()
        let first = try stage.bridge(state: "first")
        let cold = try await stage.settled()
        #expect(cold.paths.count >= 15)
        #expect(cold.discovery.count == RetainedPicture.announcements)
        await first.stop()
        try stage.broker.restart()
        let second = try stage.bridge(state: "second")
        try await stage.becomes(cold, after: "a cold start with an empty memory")
        await second.stop()
        try stage.broker.restart()
        let third = try stage.bridge(state: "second")
        try await stage.becomes(cold, after: "a cold start with a memory")
        await third.stop()
        await stage.close()
    }

    @Test func aBrokerThatForgotEverythingIsToldEverything() async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        let cold = try await stage.settled()
        for round in 1...3 {
            if round == 2 { stage.broker.kill() } else { stage.broker.stop() }
            try stage.broker.start()
            try await stage.becomes(cold, after: "restart \(round) of the broker")
        }
        let loud = stage.lines.all.filter { $0.level <= .warning }.map(\.text)
        #expect(loud.allSatisfy { $0.contains("broker") }, "\(loud)")
        await bridge.stop()
        await stage.close()
    }

    @Test func aRelayThatRestartsIsFoundAgain() async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        let cold = try await stage.settled()
        await stage.relay.stop()
        let lost = try await stage.picture("the loss") { $0.text("box/availability") == "offline" }
        #expect(lost.document("box/link")?["reason"] == "relay_unreachable")
        #expect(lost.document("power")?["live"] == false)
        #expect(lost.document("power")?["grid"] == cold.document("power")?["grid"])
        #expect(lost.document("control")?["in_control"] == .null)
        try await stage.relay.start()
        try await stage.becomes(cold, after: "a restart of the relay")
        stage.relay.dropAll()
        _ = try await stage.eventually("a second session") {
            await bridge.session.counters().sessions >= 3 ? true : nil
        }
        try await stage.becomes(cold, after: "sockets that broke")
        #expect(stage.relay.socketCount(end: .app) == 1)
        await bridge.stop()
        await stage.close()
    }

    @Test func theHourTurnsAndNobodySeesIt() async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        let cold = try await stage.settled()
        let watcher = try await TestClient.subscribed(stage.onlooker, to: ["ftw/home/box/#"])
        for (round, delta) in [Int64(1), -1].enumerated() {
            let opened = stage.relay.counters.opened
            stage.relay.rotate(by: delta)
            _ = try await stage.eventually("everybody in the new room") {
                let isThere = stage.relay.counters.opened >= opened + 2 && stage.relay.socketCount() == 2
                let sessions = await bridge.session.counters().sessions
                return isThere && sessions == UInt64(round) + 2 ? true : nil
            }
            try await stage.becomes(cold, after: "turn \(round + 1) of the hour")
        }
        #expect(stage.relay.counters.closed[4410] ?? 0 >= 4)
        let news = watcher.seen.filter {
            if case .message(let message) = $0 { !message.retained } else { false }
        }
        #expect(news.isEmpty, "\(news)")
        await watcher.close()
        await bridge.stop()
        await stage.close()
    }

    @Test func aBoxThatStartsAgainNeverShowsItsZeros() async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        let cold = try await stage.settled()
        let grid = try #require(cold.document("power")?["grid"]?.intValue)
        #expect(grid != 0)
        let watcher = try await TestClient.subscribed(stage.onlooker, to: ["ftw/home/#"])
        await stage.box.restart()
        _ = try await stage.eventually("a session with the new process") {
            await bridge.session.counters().sessions >= 2 ? true : nil
        }
        try await stage.becomes(cold, after: "a restart of the box")
        let powers = watcher.seen.compactMap { event -> JSONValue? in
            guard case .message(let message) = event, message.topic == "ftw/home/power" else { return nil }
            return try? JSONValue(parsing: message.payload)
        }
        #expect(powers.allSatisfy { $0["grid"] == .int(grid) || $0["grid"] == .null }, "\(powers)")
        #expect(powers.allSatisfy { $0["solar"] != 0 && $0["house"] != 0 && $0["battery"] != 0 }, "\(powers)")
        await watcher.close()
        await bridge.stop()
        await stage.close()
    }

    @Test func aSilentBoxIsNoticedAndItsReturnToo() async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        let cold = try await stage.settled()
        await stage.box.setMute(true)
        let silent = try await stage.picture("the silence") { $0.text("box/availability") == "offline" }
        #expect(silent.document("box/link")?["state"] == "lost")
        #expect(silent.document("power")?["live"] == false)
        #expect(silent.document("battery")?["live"] == false)
        #expect(silent.document("mode")?["live"] == false)
        #expect(silent.text("source/roof-pv/availability") == "offline")
        #expect(silent.text("bridge/availability") == "online")
        await stage.box.setMute(false)
        try await stage.becomes(cold, after: "silence")
        await bridge.stop()
        await stage.close()
    }

    @Test func aSessionThatWasPushedOutIsReplaced() async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        let cold = try await stage.settled()
        await stage.box.dropSessions()
        _ = try await stage.eventually("a new session") {
            await bridge.session.counters().sessions >= 2 ? true : nil
        }
        try await stage.becomes(cold, after: "an eviction")
        // A starved machine may have begun another one; the box's four places are never filled.
        #expect(await stage.box.liveSessionCount <= 2)
        await bridge.stop()
        await stage.close()
    }

    @Test func aRemovedBridgeSaysSo() async throws {
        let stage = try await Stage()
        let bridge = try stage.bridge()
        let cold = try await stage.settled()
        await stage.box.revoke(clientKey: stage.identity.publicKey)
        let revoked = try await stage.picture("the removal") {
            $0.document("box/link")?["state"] == "revoked" && $0.text("box/availability") == "offline"
        }
        #expect(revoked.document("box/link")?["reason"] == "revoked")
        #expect(revoked.document("power")?["live"] == false)
        #expect(revoked.document("control")?["in_control"] == .null)
        #expect(revoked.text("bridge/availability") == "online")
        #expect(revoked.discovery == cold.discovery)
        #expect(stage.lines.containing("removed this bridge").count == 1)
        // Let in again, it comes back by itself when it next asks; a restart asks at once.
        await bridge.stop()
        await stage.box.enrol(clientKey: stage.identity.publicKey)
        let again = try stage.bridge()
        try await stage.becomes(cold, after: "a new admission")
        await again.stop()
        await stage.close()
    }
}
