import BoxLink
import BoxSession
import Bridge
import Configuration
import EnergyModel
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Testing

@testable import BoxSimulator

/// Commands from another client over a real broker, real frames and a simulated box.
@Suite(.needsBroker, .serialized, .timeLimit(.minutes(4))) struct CommandStackTests {
    private let control = "ftw/home/car/garage/control/set"

    /// A client that hears everything and may ask.
    private func asker(_ stage: Stage, _ name: String = "asker", to filters: [String] = ["ftw/home/#"])
        async throws
        -> TestClient
    {
        var settings = stage.onlooker
        settings.clientID = name
        return try await TestClient.subscribed(settings, to: filters)
    }

    private static func documents(_ client: TestClient, _ topic: String) -> [JSONValue] {
        client.seen.compactMap { event in
            guard case .message(let message) = event, message.topic == topic else { return nil }
            return try? JSONValue(parsing: message.payload)
        }
    }

    /// The final result of that id.
    private func end(_ id: String, _ client: TestClient, _ stage: Stage, on topic: String = "ftw/home/result")
        async throws -> JSONValue
    {
        try await stage.eventually("an end of \(id)") {
            Self.documents(client, topic).first { $0["id"]?.stringValue == id && $0["final"] == true }
        }
    }

    // MARK: Kept by the broker

    @Test func aRetainedCommandThatComesLiveIsRefusedAndRemoved() async throws {
        let stage = try await Stage()
        await stage.box.setCar(.noGoal)
        let bridge = try stage.bridge()
        _ = try await stage.settled()
        let asker = try await asker(stage)
        for round in 0..<3 {
            let id = "kept-\(round)"
            asker.client.publish(Message(control, #"{"id":"\#(id)","value":"charge_now"}"#, retained: true))
            let end = try await end(id, asker, stage)
            #expect(end["code"] == "retained" && end["stage"] == "refused")
        }
        _ = try await stage.picture("the topic to be empty") { !$0.messages.keys.contains(control) }
        // Another round trip: what cleared it was no command either.
        asker.client.publish(Message(control, #"{"id":"ok","value":"plan"}"#))
        #expect(try await end("ok", asker, stage)["stage"] == "done")
        // A slow machine may have it said twice to the box, under one id.
        let ops = await stage.box.requestLog.commands.map { $0.args.mapValue?["clear"] }
        #expect(ops.allSatisfy { $0 == true })
        #expect(await stage.box.executedIDs.count == 1)
        #expect(Self.documents(asker, "ftw/home/result").count == 3 + 3)
        await asker.close()
        await bridge.stop()
        await stage.close()
    }

    /// There the flag cannot be seen: once it is carried out, and nothing of it stays.
    @Test func on311ARetainedCommandIsCarriedOutOnceAndRemoved() async throws {
        let stage = try await Stage()
        await stage.box.setCar(.noGoal)
        let first = try stage.bridge { $0.mqtt.version = .v311 }
        _ = try await stage.settled()
        let asker = try await asker(stage)
        asker.client.publish(Message(control, #"{"id":"kept","value":"pause"}"#, retained: true))
        #expect(try await end("kept", asker, stage)["stage"] == "done")
        _ = try await stage.picture("the topic to be empty") { !$0.messages.keys.contains(control) }
        await first.stop()
        // One that was kept while nobody was there is refused as ever.
        asker.client.publish(Message(control, #"{"id":"old","value":"charge_now"}"#, retained: true))
        await asker.client.drain(limit: .seconds(10))
        let second = try stage.bridge { $0.mqtt.version = .v311 }
        #expect(try await end("old", asker, stage)["code"] == "retained")
        _ = try await stage.picture("the topic to be empty again") { !$0.messages.keys.contains(control) }
        #expect(await stage.box.executedIDs.count == 1)
        await asker.close()
        await second.stop()
        await stage.close()
    }

    @Test(arguments: [Settings.MQTT.Version.v5, .v311])
    func aForeignValueOnAStateTopicIsPutBackAndToldOnce(version: Settings.MQTT.Version) async throws {
        let stage = try await Stage()
        await stage.box.setCar(.noGoal)
        let bridge = try stage.bridge { $0.mqtt.version = version }
        let cold = try await stage.settled()
        let asker = try await asker(stage)
        let paths = ["car/garage/control", "mode", "power", "box/availability", "bridge/instance"]
        for round in 0..<2 {
            for path in paths {
                asker.client.publish(Message("ftw/home/\(path)", "charge_now \(round)", retained: true))
            }
            await asker.client.drain(limit: .seconds(10))
            _ = try await stage.picture("ours to be back") { picture in
                paths.allSatisfy { picture.text($0)?.hasPrefix("charge_now") == false }
            }
        }
        try await stage.becomes(cold, after: "somebody wrote to our topics")
        _ = try await stage.line("Commands go to ftw/home/car/garage/control/set.")
        for path in paths {
            #expect(stage.lines.containing("somebody else wrote to ftw/home/\(path),").count <= 1)
        }
        #expect(await stage.box.requestLog.commands.isEmpty)
        await asker.close()
        await bridge.stop()
        await stage.close()
    }

    // MARK: Between the command and its end

    @Test func theControlChangesOnceWhilePowerChangesEachSecond() async throws {
        let stage = try await Stage()
        await stage.box.setCar(.noGoal)
        let bridge = try stage.bridge { $0.mqtt.rate = .fast }
        _ = try await stage.settled()
        let asker = try await asker(stage)
        await stage.box.setCommandFates([.slow(beats: 4)])
        asker.client.publish(Message(control, #"{"id":"slow","value":"charge_now"}"#))
        // The house battery comes and goes, and the meter with it, until the end.
        let end = try await withThrowingTaskGroup(of: JSONValue?.self) { group in
            group.addTask {
                for round in 0..<600 {
                    stage.box.house.now { $0.batterySoc = round.isMultiple(of: 2) ? 1 : 0.4 }
                    guard (try? await Task.sleep(for: .milliseconds(700))) != nil else { return nil }
                }
                return nil
            }
            group.addTask { try await self.end("slow", asker, stage) }
            defer { group.cancelAll() }
            while let next = try await group.next() { if let next { return next } }
            return JSONValue.null
        }
        #expect(end["stage"] == "done")
        _ = try await stage.picture("the control") { $0.text("car/garage/control") == "charge_now" }
        var order: [String] = []
        for case .message(let message) in asker.seen where !message.retained {
            switch message.topic {
            case "ftw/home/car/garage/control": order.append(message.text ?? "")
            case "ftw/home/power": order.append("power")
            case "ftw/home/result":
                order.append((try? JSONValue(parsing: message.payload))?["stage"]?.stringValue ?? "")
            default: break
            }
        }
        // What was before the command is not the question.
        order = Array(order.drop { $0 != "received" })
        #expect(order.filter { !["power", "received", "accepted", "done"].contains($0) } == ["charge_now"])
        let accepted = try #require(order.firstIndex(of: "accepted"))
        let done = try #require(order.firstIndex(of: "done"))
        #expect(order[accepted..<done].filter { $0 == "power" }.count >= 2)
        #expect(order.firstIndex(of: "charge_now") ?? 0 > accepted)
        await asker.close()
        await bridge.stop()
        await stage.close()
    }

    // MARK: Many at once

    @Test func fiftyTapsAreAFewSends() async throws {
        let stage = try await Stage()
        await stage.box.setCar(.estimated(0.2))
        let bridge = try stage.bridge()
        _ = try await stage.settled()
        let asker = try await asker(stage)
        let before = try await stage.picture("a level") { $0.document("car/garage/level")?["level"] != nil }
        let start = try #require(before.document("car/garage/level")?["level"]?.doubleValue)
        for tap in 0..<50 {
            asker.client.publish(
                Message("ftw/home/car/garage/level/adjust", #"{"id":"tap-\#(tap)","value":"+1"}"#))
            try await Task.sleep(for: .milliseconds(40))
        }
        var ends: [JSONValue] = []
        for tap in 0..<50 { ends.append(try await end("tap-\(tap)", asker, stage)) }
        let sent = await stage.box.requestLog.commands.count
        let done = ends.filter { $0["stage"] == "done" }
        #expect(sent <= 6 && done.count == sent)
        #expect(ends.filter { $0["stage"] == "superseded" }.count == 50 - sent)
        #expect(ends.last?["stage"] == "done")
        #expect(abs((ends.last?["value"]?.doubleValue ?? 0) - (start + 50)) < 0.51)
        _ = try await stage.picture("the new level, and who says so") {
            let level = $0.document("car/garage/level")
            return abs((level?["level"]?.doubleValue ?? 0) - (start + 50)) < 0.51
                && level?["origin"] == "person"
        }
        print("50 taps: \(sent) sends, from \(start) to \(ends.last?["value"]?.text ?? "?")")
        await asker.close()
        await bridge.stop()
        await stage.close()
    }

    /// Whatever the broker handed over and took our receipt for is answered, and what is right is done.
    @Test func aFloodIsAnsweredToTheLast() async throws {
        let stage = try await Stage()
        await stage.box.setCar(.noGoal)
        let bridge = try stage.bridge()
        _ = try await stage.settled()
        let asker = try await asker(stage, to: ["ftw/home/result", "answers/flood"])
        let count = 3_000
        for number in 0..<count {
            asker.client.publish(
                Message(
                    "ftw/home/car/garage/level/set", Array(#"{"id":"bad-\#(number)","value":900}"#.utf8),
                    responseTopic: "answers/flood"))
            // The client in this test has an outbox too.
            if number.isMultiple(of: 500) { await asker.client.drain(limit: .seconds(30)) }
        }
        asker.client.publish(Message(control, #"{"id":"good","value":"pause"}"#))
        #expect(try await end("good", asker, stage)["stage"] == "done")
        let answered = try await stage.eventually("every answer") { () -> Set<String>? in
            let ids = Set(Self.documents(asker, "answers/flood").compactMap { $0["id"]?.stringValue })
            return ids.count == count ? ids : nil
        }
        #expect(answered.count == count)
        let codes = Set(Self.documents(asker, "answers/flood").compactMap { $0["code"]?.stringValue })
        #expect(codes.isSubset(of: ["out_of_range", "bad_payload", "rate_limited"]))
        #expect(await stage.box.requestLog.commands.count == 1)
        await asker.close()
        await bridge.stop()
        await stage.close()
    }

    // MARK: Whose answer it is

    @Test func twoClientsGetExactlyTheirOwnStages() async throws {
        let stage = try await Stage()
        await stage.box.setCar(.noGoal)
        let bridge = try stage.bridge()
        _ = try await stage.settled()
        let one = try await asker(stage, "one", to: ["answers/one"])
        let two = try await asker(stage, "two", to: ["answers/two"])
        one.client.publish(
            Message(
                control, Array(#"{"id":"a1","value":"pause","from":"one"}"#.utf8),
                responseTopic: "answers/one",
                correlationData: [1]))
        two.client.publish(
            Message(
                "ftw/home/mode/set", Array(#"{"id":"b1","value":"idle"}"#.utf8), responseTopic: "answers/two",
                correlationData: [2, 2]))
        _ = try await end("a1", one, stage, on: "answers/one")
        _ = try await end("b1", two, stage, on: "answers/two")
        for (client, id, topic, data) in [
            (one, "a1", "answers/one", [UInt8(1)]), (two, "b1", "answers/two", [2, 2]),
        ] {
            let told = Self.documents(client, topic)
            #expect(told.allSatisfy { $0["id"]?.stringValue == id })
            #expect(told.map { $0["stage"] } == ["received", "accepted", "done"])
            for case .message(let message) in client.seen { #expect(message.correlationData == data) }
            await client.close()
        }
        let hold = try await stage.picture("who asked") {
            $0.document("car/garage/hold")?["kind"] == "paused"
        }
        #expect(hold.document("car/garage/hold")?["asked_by"] == "one")
        #expect(hold.document("car/garage/text/en")?["receipt"] == "Done.")
        await bridge.stop()
        await stage.close()
    }
}
