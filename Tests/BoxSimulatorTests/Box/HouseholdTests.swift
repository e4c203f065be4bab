import BoxLink
import FoundationEssentials
import JSONText
import Synchronization
import TestSupport
import Testing
import TextForms

@testable import BoxSimulator

/// What others in the household do, and what the box truly holds.
@Suite struct HouseholdTests {
    private func car(_ bench: BoxBench, _ index: Int = 0) async throws -> JSONValue {
        try #require(await bench.box.truth()["cars"]?[index])
    }

    @Test func anotherAppsOrdersAreWhatTheBoxThenTells() async throws {
        let bench = try BoxBench(.late)
        let phone = try await bench.join()
        try await bench.greet(phone)
        await bench.box.setCar(.assumed)
        #expect(await bench.box.order(.level(0.62)))
        #expect(bench.listen(phone).contains { $0.type == "plan" })
        #expect(try await bench.loadpoint(phone)["current_soc"] == 0.62)
        #expect(await bench.box.order(.chargeNow))
        var hold = try await bench.get(phone, "/api/loadpoints/garage/manual_hold").json
        #expect(hold["active"] == true && hold["power_w"] == 11_000)
        #expect(await bench.box.order(.hold(0), loadpoint: "garage"))
        hold = try await bench.get(phone, "/api/loadpoints/garage/manual_hold").json
        #expect(hold["active"] == true && hold["power_w"] == 0)
        #expect(await bench.box.order(.hold(nil)))
        #expect(try await bench.loadpoint(phone)["manual_active"] == false)
        #expect(await bench.box.order(.surplusOnly(true)))
        #expect(try await bench.loadpoint(phone)["surplus_only"] == true)
        #expect(await !bench.box.order(.chargeNow, loadpoint: "nowhere"))
        bench.house.plug(false)
        #expect(await !bench.box.order(.level(0.5)))
    }

    @Test(arguments: [(BoxVintage.soc, JSONValue?.none), (.late, 310)])
    func aGoalIsStoredOnBothClocks(vintage: BoxVintage, local: JSONValue?) async throws {
        let bench = try BoxBench(vintage)
        let phone = try await bench.join()
        #expect(await bench.box.order(.goal(HouseholdGoal(soc: 0.8, minute: 310, days: 3))))
        let row = try await bench.loadpoint(phone)
        #expect(row["schedule"]?["time_of_day_min_utc"] == 250)
        #expect(row["schedule"]?["time_of_day_min"] == local)
        #expect(row["schedule"]?["days"] == 3 && row["schedule"]?["recurring"] == true)
        #expect(row["target_time"] == "2026-12-01T04:10:00Z")
        #expect(await bench.box.order(.goal(nil)))
        #expect(try await bench.loadpoint(phone)["target_soc"] == 0)
        #expect(try await car(bench)["schedule"] == .null)
    }

    @Test func aGoalInTheFirstHourIsOnTheDayBeforeInGreenwich() async throws {
        let bench = try BoxBench(.soc)
        _ = await bench.box.order(.goal(HouseholdGoal(soc: 0.8, minute: 30)))
        #expect(try await car(bench)["schedule"]?["time_of_day_min_utc"] == 1_410)
    }

    @Test func aCarTakesAllOrNothing() async throws {
        let bench = try BoxBench(.soc)
        await bench.box.setCar(.carLive(0.5))
        bench.house.setDraw(.on)
        #expect(try await car(bench)["power_w"]?.doubleValue == 11_000)
        _ = await bench.box.order(.hold(0))
        #expect(try await car(bench)["power_w"]?.doubleValue == 0)
        _ = await bench.box.order(.chargeNow)
        bench.house.setDraw(.off, loadpoint: "garage")
        #expect(try await car(bench)["power_w"]?.doubleValue == 0)
        bench.house.setDraw(.auto)
        #expect(try await car(bench)["power_w"]?.doubleValue == 11_000)
        bench.house.setDraw(.on, loadpoint: "nowhere")
    }

    @Test func modesComeAndGoWithTheGreeting() async throws {
        let bench = try BoxBench(.soc)
        let before = await bench.box.modeKeys
        #expect(await bench.box.addMode(key: "party", label: "Party time"))
        #expect(await !bench.box.addMode(key: "party", label: "Again"))
        #expect(await bench.box.removeMode(key: "idle"))
        #expect(await !bench.box.removeMode(key: "idle"))
        let phone = try await bench.join()
        let greeting = try #require(try await bench.greet(phone).first { $0.type == "hello_ok" })
        let keys = greeting.body["modes"]?.arrayValue?.compactMap { $0["key"]?.textValue }
        #expect(keys == before.filter { $0 != "idle" } + ["party"])
        #expect(await bench.box.setMode(key: "party"))
        #expect(await !bench.box.setMode(key: "idle"))
        let answer = try await bench.command(phone, "site.mode.set", ["mode": "party"], rev: 2)
        #expect(answer.contains { $0.type == "cmd.result" && $0.body["state"] == "applied" })
        #expect(await bench.box.addMode(key: "idle", label: "Idle"))
        #expect(await bench.box.modeKeys.contains("idle"))
    }

    @Test(arguments: [(Int64(1), "lagging"), (2, "stale"), (6, "down")])
    func aSourceIsOldAtOnce(limits: Int64, state: String) async throws {
        let bench = try BoxBench(.soc)
        let phone = try await bench.join()
        try await bench.greet(phone)
        await bench.box.silence("roof-pv", past: limits)
        #expect(await bench.box.sourceStates["roof-pv"] == state)
        await bench.beat(2, phone)
        #expect(await bench.box.sourceStates["roof-pv"] == state)
        await bench.box.setSource("roof-pv", .answering)
        await bench.beat(2, phone)
        #expect(await bench.box.sourceStates["roof-pv"] == "live")
        await bench.box.silence("nowhere", past: 2)
    }

    @Test func theTruthTellsOfCommandsAndRequests() async throws {
        let bench = try BoxBench(.soc)
        let phone = try await bench.join()
        await bench.box.setCar(.assumed)
        await bench.box.addCommandFate(.lost)
        await bench.box.addCommandFate(.refused("E_NEW"))
        try await bench.greet(phone)
        for id in ["a", "b", "c"] {
            _ = try await bench.command(
                phone, "loadpoint.hold", ["id": "garage", "power_w": 0, "hold_s": 0], id: id)
        }
        for _ in 0..<3 { _ = try await bench.get(phone, "/api/loadpoints") }
        let truth = await bench.box.truth()
        #expect(truth["executed"] == ["c"])
        #expect(truth["requests"] == ["/api/loadpoints": 3])
        let commands = try #require(truth["commands"]?.arrayValue)
        #expect(commands.map { $0["id"] } == ["b", "c"])
        #expect(commands.map { $0["outcome"] } == ["rejected", "applied"])
        #expect(commands.map { $0["refusal"] } == ["E_NEW", .null])
        #expect(commands.last?["args"] == ["id": "garage", "power_w": 0, "hold_s": 0])
        #expect(truth["cars"]?[0]?["hold"]?["power_w"]?.doubleValue == 0)
        #expect(truth["clients"]?.arrayValue?.count == 1 && truth["sessions"] == 1)
        #expect(truth["at"] == "2026-11-30T08:16:40+01:00" && truth["zone"] == "Europe/Stockholm")
        await bench.box.clearLog()
        #expect(await bench.box.truth()["requests"] == [:])
    }

    @Test func whoIsLetInIsToldAndComesBack() async throws {
        let records = Records()
        var keys = try SimulatedBoxSettings(seed: 7)
        keys.onClientsChanged = { records.add($0) }
        let bench = try BoxBench(keys: keys)
        let code = try #require(
            Base64URL.decode(
                String(await bench.box.pairingLink().split(separator: "#")[1].split(separator: ".")[2])))
        let identity = try BoxBench.keys(3)
        let phone = try await bench.shake(identity, code: code)
        #expect(phone.link.isUp)
        let record = try #require(records.last)
        #expect(record.clients == [BoxClient(key: identity.publicKey, role: .owner)])
        let again = try BoxBench(keys: SimulatedBoxSettings(try #require(BoxRecord(record.document))))
        #expect(try await again.shake(identity).link.isUp)
        await bench.box.setRole(.viewer, clientKey: identity.publicKey)
        #expect(records.last?.clients.first?.role == .viewer)
        await bench.box.revokeAll()
        #expect(records.last?.clients == [])
    }
}

private final class Records: Sendable {
    private let kept = Mutex<[BoxRecord]>([])
    var last: BoxRecord? { kept.withLock { $0.last } }
    func add(_ record: BoxRecord) { kept.withLock { $0.append(record) } }
}
