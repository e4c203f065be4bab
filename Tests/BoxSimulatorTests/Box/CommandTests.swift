import BoxLink
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSimulator

@Suite struct CommandTests {
    /// A subscribed owner on a box whose car is plugged in, at 50 %, not reporting.
    private func ready(
        _ vintage: BoxVintage = .soc, _ role: BoxRole = .owner
    ) async throws -> (BoxBench, BenchPhone) {
        let bench = try BoxBench(vintage)
        bench.house.arrange(.estimated(0.5))
        let phone = try await bench.join(role)
        try await bench.greet(phone)
        return (bench, phone)
    }

    private func code(_ heard: [PhoneLink.Heard]) -> String? {
        heard.first?.body["error"]?["code"]?.textValue
    }

    /// Everything is wrong at once; mending it one by one shows the order.
    @Test func checksComeInTheBoxesOrder() async throws {
        let (bench, phone) = try await ready(.soc, .viewer)
        await bench.box.loseMeter()
        let bad: CBORValue = ["id": "nope", "power_w": -1]
        let unmet: CBORValue = [["fid": 99, "op": "gt", "value": 0]]
        func send(
            _ op: String = "loadpoint.hold", args: CBORValue = bad, id: String = "c1", rev: Int64 = 7,
            validFor: Int64 = 120_000, guards: CBORValue = unmet
        ) async throws -> [PhoneLink.Heard] {
            try await bench.command(phone, op, args, id: id, rev: rev, validFor: validFor, guards: guards)
        }
        let nameless = try await send("no.such", id: "", validFor: -1)
        #expect(nameless.first?.body["args"] == ["t": "cmd", "missing": "cmdId"])
        #expect(code(try await send("no.such", validFor: 0)) == "E_CMD_EXPIRED")
        #expect(code(try await send("no.such")) == "E_UNKNOWN_OP")
        let key = try BoxBench.keys(1).publicKey
        let denied = try await send()
        #expect(
            denied.first?.body["error"]?["args"]
                == ["op": "loadpoint.hold", "needScope": "ftw.dispatch.write", "role": "viewer"])
        await bench.box.setRole(.owner, clientKey: key)
        let conflict = try await send()
        #expect(conflict.first?.body["error"]?["args"] == ["expected": 7, "actual": 1])
        let blind = try await send(rev: 1)
        #expect(blind.first?.body["error"]?["args"] == ["dispatchBlockedBy": ["grid-meter"]])
        await bench.box.restoreMeter()
        #expect(code(try await send(rev: 1)) == "E_PRECONDITION")
        let unknownID = try await send(rev: 1, guards: [])
        #expect(unknownID.first?.body["error"]?["args"]?["arg"] == "id")
        let negative = try await send(args: ["id": "garage", "power_w": -1], rev: 1, guards: [])
        #expect(negative.first?.body["error"]?["args"]?["arg"] == "power_w")
        // None of the refusals was remembered: the same id works in the end.
        let good = try await send(args: ["id": "garage", "power_w": 7_000], rev: 1, guards: [])
        #expect(good.map(\.type) == ["cmd.ack", "cmd.result", "plan"])
        await bench.box.revoke(clientKey: key, tells: false)
        let gone = try await send(id: "c2")
        #expect(gone.map(\.type) == ["cmd.result", "session.terminate"])
        #expect(code(gone) == "E_GRANT_REVOKED")
        let log = await bench.box.requestLog.commands
        #expect(log.map(\.outcome).filter { $0 == "applied" }.count == 1)
    }

    @Test func aRepeatedIdIsAnsweredWithoutActingAgain() async throws {
        let (bench, phone) = try await ready()
        let first = try await bench.command(phone, "loadpoint.hold", ["id": "garage", "power_w": 7_000])
        let again = try await bench.command(
            phone, "loadpoint.hold", ["id": "garage", "power_w": 0], rev: 99, validFor: -5)
        #expect(again.map(\.body) == first.prefix(2).map(\.body))
        #expect(bench.house.now { $0.chargers[0].hold?.powerW } == 7_000)
    }

    @Test func theMemoryOfIdsEndsWithTheSession() async throws {
        let (bench, phone) = try await ready()
        _ = try await bench.command(phone, "loadpoint.hold", ["id": "garage", "power_w": 7_000])
        let next = try await bench.join()
        let heard = try await bench.command(next, "loadpoint.hold", ["id": "garage", "clear": true])
        #expect(heard.map(\.type) == ["cmd.ack", "cmd.result", "plan"])
        #expect(bench.house.now { $0.chargers[0].hold } == nil)
    }

    @Test func aHoldChargesAPauseStopsAndAReleaseGoesBackToThePlan() async throws {
        let (bench, phone) = try await ready()
        let hold = try await bench.command(
            phone, "loadpoint.hold", ["id": "garage", "power_w": 7_000, "hold_s": 0, "phase_mode": "3p"])
        #expect(hold[1].body["observed"]?["value"] == .float(7_000))
        let beat = await bench.beat(1, phone)
        #expect(beat.first?.body["fields"]?["10"] == 7_000)
        // A hold moves no revision, so no snapshot follows.
        #expect(beat.map(\.type) == ["delta"])
        let lp = try await bench.loadpoint(phone)
        #expect(lp["manual"]?["state"] == "charging" && lp["manual_charge_w"] == 7_000)
        _ = try await bench.command(phone, "loadpoint.hold", ["id": "garage", "power_w": 0], id: "c2")
        let paused = try await bench.loadpoint(phone)
        #expect(paused["manual_active"] == true && paused["manual_charge_w"] == nil)
        #expect(paused["manual"]?["state"] == "paused")
        _ = try await bench.command(phone, "loadpoint.hold", ["id": "garage", "clear": true], id: "c3")
        #expect(try await bench.loadpoint(phone)["manual_active"] == false)
    }

    @Test func aTimedHoldEndsByItself() async throws {
        let (bench, phone) = try await ready()
        _ = try await bench.command(
            phone, "loadpoint.hold", ["id": "garage", "power_w": 7_000, "hold_s": 60])
        await bench.beat(61, phone)
        #expect(try await bench.loadpoint(phone)["manual_active"] == false)
    }

    @Test func textForPowerPausesOnABaseBoxAndIsRefusedLater() async throws {
        let args: CBORValue = ["id": "garage", "power_w": "7000"]
        let (base, owner) = try await ready(.base)
        #expect(
            try await base.command(owner, "loadpoint.hold", args)[1].body["observed"]?["value"] == .float(0))
        let (soc, other) = try await ready(.soc)
        let refused = try await soc.command(other, "loadpoint.hold", args)
        #expect(refused.first?.body["error"]?["args"]?["arg"] == "power_w")
    }

    @Test(
        arguments: [
            ["id": "garage", "hold_s": 1_801], ["id": "garage", "hold_s": .float(1.5)],
            ["id": "garage", "phase_mode": "2p"], ["id": "garage", "site_phases": 2],
            ["id": "garage", "power_w": .float(-0.1)], ["power_w": 1], ["id": 1, "power_w": 1],
        ] as [CBORValue])
    func aHoldThatCannotBeIsRefused(args: CBORValue) async throws {
        let (bench, phone) = try await ready()
        let heard = try await bench.command(phone, "loadpoint.hold", args)
        #expect(heard.count == 1)
        #expect(heard.first?.body["error"]?["args"]?["arg"] != nil)
    }

    @Test func theLevelSetByAPersonIsCountedOn() async throws {
        let (bench, phone) = try await ready()
        let heard = try await bench.command(
            phone, "loadpoint.soc.set", ["id": "garage", "soc": .float(0.62)])
        #expect(heard[1].body["state"] == "applied")
        #expect(heard[1].body["observed"]?["value"] == .float(0.62))
        let lp = try await bench.loadpoint(phone)
        #expect(lp["current_soc"] == 0.62 && lp["soc_source"] == "inferred")
        #expect(lp["soc_retention"] == "session")
        let percent = try await bench.command(
            phone, "loadpoint.soc.set", ["id": "garage", "soc": 62], id: "c2")
        #expect(percent.first?.body["error"]?["args"]?["value"] == 62)
    }

    @Test func aCarThatReportsOverridesAPerson() async throws {
        let (bench, phone) = try await ready()
        bench.house.arrange(.carLive(0.4))
        let heard = try await bench.command(
            phone, "loadpoint.soc.set", ["id": "garage", "soc": .float(0.9)])
        #expect(heard[1].body["state"] == "applied")
        let lp = try await bench.loadpoint(phone)
        #expect(lp["soc_source"] == "vehicle")
        #expect(abs((lp["current_soc"]?.doubleValue ?? 0) - 0.4) < 0.01)
    }

    @Test func surplusOnlyWaitsForTheSun() async throws {
        let (bench, phone) = try await ready()
        let on = try await bench.command(
            phone, "loadpoint.surplus_only.set", ["id": "garage", "surplus_only": true])
        #expect(on[1].body["observed"]?["value"] == .float(1))
        #expect(try await bench.loadpoint(phone)["surplus_only"] == true)
        let bad = try await bench.command(
            phone, "loadpoint.surplus_only.set", ["id": "garage", "surplus_only": 1], id: "c2")
        #expect(bad.first?.body["error"]?["args"]?["arg"] == "surplus_only")
    }

    @Test(arguments: ["loadpoint.soc.set", "loadpoint.surplus_only.set"])
    func aBaseBoxLacksTheNewerCommands(op: String) async throws {
        let (bench, phone) = try await ready(.base)
        let heard = try await bench.command(phone, op, ["id": "garage", "soc": 0, "surplus_only": true])
        #expect(heard.first?.body["error"]?["args"] == ["op": .text(op)])
    }

    @Test func aBoostRunsAndStops() async throws {
        let (bench, phone) = try await ready()
        let run = try await bench.command(
            phone, "loadpoint.boost", ["id": "garage", "duration_s": 600, "min_battery_soc_pct": 20])
        #expect(run[1].body["observed"]?["value"] == .float(1))
        #expect(try await bench.loadpoint(phone)["battery_boost"]?["state"] == "active")
        let flows = bench.house.flows
        #expect(flows.totalEVW == 11_000 && flows.batteryW == -5_000)
        let stop = try await bench.command(
            phone, "loadpoint.boost", ["id": "garage", "cancel": true], id: "c2")
        #expect(stop[1].body["observed"]?["value"] == .float(0))
        #expect(try await bench.loadpoint(phone)["battery_boost"]?["stop_reason"] == "cancelled")
    }

    static let badLeases: [(CBORValue, String)] = [
        (["id": "garage", "min_battery_soc_pct": 20], "duration_s"),
        (["id": "garage", "duration_s": 600, "expires_at_ms": 1], "duration_s"),
        (["id": "garage", "duration_s": 30, "min_battery_soc_pct": 20], "lease"),
        (["id": "garage", "duration_s": 14_401, "min_battery_soc_pct": 20], "lease"),
        (["id": "garage", "duration_s": 600], "lease"),
        (["id": "garage", "duration_s": 600, "min_battery_soc_pct": 20, "departure_at_ms": 1], "lease"),
    ]

    @Test(arguments: badLeases)
    func aBoostThatCannotBeIsRefused(args: CBORValue, arg: String) async throws {
        let (bench, phone) = try await ready()
        let heard = try await bench.command(phone, "loadpoint.boost", args)
        #expect(heard.first?.body["error"]?["args"]?["arg"] == .text(arg))
    }

    @Test func commandsCanBeSwallowed() async throws {
        let (bench, phone) = try await ready()
        await bench.box.setSilentCommands(acknowledged: false)
        #expect(try await bench.command(phone, "site.mode.set", ["mode": "idle"]).isEmpty)
        await bench.box.setSilentCommands(acknowledged: true)
        let acked = try await bench.command(phone, "site.mode.set", ["mode": "idle"])
        #expect(acked.map(\.type) == ["cmd.ack"])
    }

    @Test func aRefusalTooLongForItsFrameEndsTheSession() async throws {
        let bench = try BoxBench(.soc)
        let phone = try await bench.join()
        try await bench.say(phone, "hello", ["proto": ["min": 0, "max": 1]])
        try await bench.say(phone, "sub", ["bucket": 256, "hz": 1])
        let short = try await bench.command(phone, "site.mode.set", ["mode": "nonsense"])
        #expect(short.count == 1)
        let long = String(repeating: "x", count: 240)
        let heard = try await bench.command(phone, "site.mode.set", ["mode": .text(long)], id: "c2")
        #expect(heard.isEmpty)
        #expect(await bench.box.liveSessionCount == 0)
    }
}
