import BoxLink
import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSimulator

/// The simulated box's messages have the keys, kinds and coding of a real box's.
@Suite struct RecordedShapeTests {
    /// Compares structure, lane and flags of one message.
    private func expect(_ heard: PhoneLink.Heard?, like name: String) throws {
        let heard = try #require(heard, "nothing like \(name) was sent")
        let real = try Recordings.message(name)
        #expect(heard.type == real.envelope.type)
        #expect(Shape.of(heard.body) == Shape.of(try #require(real.envelope.body)), "\(name)")
        #expect(heard.lane.rawValue == UInt8(real.row["lane"]?.intValue ?? 9))
        #expect((heard.id == nil) == (real.envelope.id == nil))
        if heard.lane == .control { #expect(heard.bucket == 512) }
        // The box's own coding, byte for byte: key order, integer and float widths.
        #expect(real.envelope.encoded(.deterministic) == real.payload, "\(name)")
        #expect(try Envelope(decoding: heard.payload).encoded(.deterministic) == heard.payload)
    }

    @Test func greetingAndSnapshotAreThoseOfARealBox() async throws {
        let bench = try BoxBench()
        bench.house.arrange(.estimated(0.4))
        let heard = try await bench.greet(try await bench.join())
        #expect(heard.map(\.type) == ["hello_ok", "snap"])
        try expect(heard.first, like: "hello_ok")
        try expect(heard.last, like: "snap")
        let hash = heard[0].body["capsHash"]?.textValue
        #expect(hash?.count == 16)
    }

    @Test func withoutAFoldedSubscriptionTheGreetingSaysNothingOfIt() async throws {
        let bench = try BoxBench()
        let heard = try await bench.say(
            try await bench.join(), "hello", ["proto": ["min": 0, "max": 1], "locales": ["en"]])
        #expect(heard.count == 1)
        try expect(heard.first, like: "hello_ok_unsubscribed")
    }

    @Test func theFirstSnapshotAfterAStartIsEmpty() async throws {
        let bench = try BoxBench(uptime: .milliseconds(24))
        let phone = try await bench.join()
        let snap = try await bench.greet(phone).last
        try expect(snap, like: "snap_after_start")
        let real = try Recordings.message("snap_after_start").envelope.body
        #expect(snap?.body["sources"] == real?["sources"])
        #expect(
            snap?.body["fields"]?.mapValue?.members.filter { $0.key != "1" }.allSatisfy { $0.value == 0 }
                == true)
        // The next beat brings what was missing.
        let delta = try #require(await bench.beat(2, phone).first)
        #expect(delta.body["sources"]?.mapValue?.count == 4)
        #expect(delta.body["fields"]?["5"] != nil && delta.body["fields"]?["10"] != nil)
    }

    @Test func beatsAreThoseOfARealBox() async throws {
        let bench = try BoxBench()
        bench.house.arrange(.unplugged)
        let phone = try await bench.join()
        try await bench.greet(phone)
        let delta = try #require(await bench.beat(1, phone).first { $0.type == "delta" })
        #expect(delta.body.mapValue?.members.map(\.key).sorted() == ["fields", "seq", "uptimeMs"])
        #expect(delta.lane == .control && delta.bucket == 512)
        await bench.box.loseMeter()
        try expect(await bench.beat(1, phone).first, like: "delta_blocked", ignoringFields: true)
        await bench.box.restoreMeter()
        try expect(await bench.beat(1, phone).first, like: "delta_cleared", ignoringFields: true)
    }

    private func expect(
        _ heard: PhoneLink.Heard?, like name: String, ignoringFields: Bool
    ) throws {
        let heard = try #require(heard)
        let real = try #require(try Recordings.message(name).envelope.body)
        let plain = { (shape: Set<String>) in shape.filter { !$0.hasPrefix(".fields.") } }
        #expect(plain(Shape.of(heard.body)) == plain(Shape.of(real)))
    }

    @Test func nothingNewIsATick() async throws {
        var feed = TelemetryFeed()
        let board = SourceBoard(staleAfterMs: 15_000, hasSolar: true, hasBattery: true, chargers: [])
        let now = Telemetry(board: board, uptimeMs: 9_000, controlRev: 1, modeIndex: 3, hasCars: false)
        feed.snapped(now)
        let beat = feed.beat(now) { _, _ in true }
        let real = try Recordings.message("tick")
        #expect(beat.type == "tick" && !beat.isTruncated)
        #expect(Shape.of(beat.body) == Shape.of(try #require(real.envelope.body)))
    }

    @Test func plansAndPricesAreThoseOfARealBox() async throws {
        let bench = try BoxBench(wall: Date(timeIntervalSince1970: 1_796_045_000))
        bench.house.arrange(.estimated(0.4))
        let phone = try await bench.join()
        let plan = try await bench.say(phone, "plan.get", id: 1).first
        try expect(plan, like: "plan")
        #expect(plan?.body["slots"]?.arrayValue?.count == 97)
        #expect(plan?.body["rev"]?.intValue ?? 0 > 0)
        let window: CBORValue = ["fromMs": 1_795_993_200_000, "toMs": 1_796_166_000_000]
        let price = try await bench.say(phone, "price.get", id: 2, window).first
        try expect(price, like: "price")
        #expect(price?.body["slots"]?.arrayValue?.count == 192)
        #expect(price?.body["stale"] == false)
        let empty: CBORValue = ["fromMs": 1_795_993_200_000, "toMs": 1_795_993_200_000]
        try expect(try await bench.say(phone, "price.get", id: 3, empty).first, like: "price_refused")
        let twice: CBORValue = ["series": ["grid_w", "grid_w"], "res": "5m", "fromMs": 1, "toMs": 2]
        try expect(try await bench.say(phone, "hist.query", id: 4, twice).first, like: "hist_series_refused")
        try expect(try await bench.say(phone, "nosuch.get", id: 5, [:]).first, like: "unknown_type")
    }

    @Test func apiAnswersAndRefusalsAreThoseOfARealBox() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        let heard = try await bench.call(phone, "/api/loadpoints")
        #expect(heard.map(\.type) == ["api.head", "api.chunk", "api.end"])
        try expect(heard[0], like: "api_head")
        try expect(heard[1], like: "api_chunk")
        try expect(heard[2], like: "api_end")
        let refusals: [(String, String, String)] = [
            ("PUT", "/api/loadpoints/garage/schedule", "api_step_up"),
            ("GET", "/api/loadpoints/garage/schedule", "api_no_route"),
            ("POST", "/api/mode", "api_use_cmd"), ("GET", "/api/config", "api_local"),
            ("POST", "/api/config", "api_whole_document"),
        ]
        for (method, path, name) in refusals {
            let answer = try await bench.call(phone, path, method: method, body: "{}").first
            try expect(answer, like: name)
            #expect(answer?.body == (try Recordings.message(name).envelope.body), "\(name)")
        }
        await bench.box.setBusy(calls: 1)
        let busy = try await bench.call(phone, "/api/mode").first
        #expect(busy?.body == (try Recordings.message("api_busy").envelope.body))
    }

    @Test func commandAnswersAreThoseOfARealBox() async throws {
        let bench = try BoxBench()
        bench.house.arrange(.estimated(0.4))
        let phone = try await bench.join()
        try await bench.greet(phone)
        let mode = try await bench.command(phone, "site.mode.set", ["mode": "planner_self"])
        #expect(mode.map(\.type) == ["cmd.ack", "cmd.result", "plan"])
        try expect(mode[0], like: "cmd_ack")
        try expect(mode[1], like: "result_applied")
        #expect(mode[1].body["observed"]?["value"] == .float(6))
        #expect(mode[2].id == nil)
        let late = try await bench.command(phone, "site.mode.set", ["mode": "idle"], id: "c2", rev: 1)
        try expect(late.first, like: "result_conflict")
        let old = try await bench.command(
            phone, "site.mode.set", ["mode": "idle"], id: "c3", rev: 2, validFor: 0)
        try expect(old.first, like: "result_expired")
        let unknown = try await bench.command(phone, "battery.hold", ["power_w": 1], id: "c4", rev: 2)
        try expect(unknown.first, like: "result_unknown_op")
        let bad = try await bench.command(phone, "site.mode.set", ["mode": "nonsense"], id: "c5", rev: 2)
        try expect(bad.first, like: "result_bad_argument")
        let guards: CBORValue = [["fid": 5, "op": "gt", "value": 2000]]
        let unmet = try await bench.command(
            phone, "loadpoint.hold", ["id": "garage", "power_w": 6900, "hold_s": 120], id: "c6", rev: 2,
            guards: guards)
        try expect(unmet.first, like: "result_precondition")
        await bench.box.loseMeter()
        let blind = try await bench.command(
            phone, "loadpoint.hold", ["id": "garage", "clear": true], id: "c7", rev: 2)
        try expect(blind.first, like: "result_meter")
    }

    @Test func settingTheLevelOfAnUnpluggedCarIsRefusedAfterTheAck() async throws {
        let bench = try BoxBench(.soc)
        bench.house.arrange(.unplugged)
        let phone = try await bench.join()
        let heard = try await bench.command(phone, "loadpoint.soc.set", ["id": "garage", "soc": .float(0.5)])
        #expect(heard.map(\.type) == ["cmd.ack", "cmd.result"])
        try expect(heard.last, like: "result_unplugged")
    }

    @Test(arguments: [
        ("/api/loadpoints", "api-loadpoints"), ("/api/status", "api-status"), ("/api/mode", "api-mode"),
        ("/api/modes", "api-modes"), ("/api/drivers", "api-drivers"), ("/api/mpc/plan", "api-mpc-plan"),
        ("/api/energy/daily", "api-energy-daily"),
    ])
    func documentsAreThoseOfARealBox(path: String, name: String) async throws {
        let bench = try BoxBench()
        bench.house.arrange(.assumed)
        let phone = try await bench.join()
        if path == "/api/mpc/plan" { bench.house.arrange(.unplugged) }
        _ = try await bench.greet(phone)
        let answer = try await bench.get(phone, path)
        #expect(answer.status == 200)
        #expect(Shape.of(answer.json) == Shape.of(try Recordings.json(name)))
    }

    @Test func loadpointsUnderAHoldAndAScheduleAreThoseOfARealBox() async throws {
        let bench = try BoxBench()
        bench.house.arrange(.assumed)
        let phone = try await bench.join()
        let put = try await bench.get(
            phone, "/api/loadpoints/garage/schedule", method: "PUT",
            body: #"{"soc":0.8,"time_of_day_min_utc":360,"recurring":true,"days":31}"#, stepUp: true)
        #expect(put.json == (try Recordings.json("api-schedule-put")))
        let scheduled = try await bench.get(phone, "/api/loadpoints")
        let real = try Recordings.json("api-loadpoints-scheduled")
        #expect(Shape.of(scheduled.json) == Shape.of(real))
        #expect(scheduled.json["loadpoints"]?[0]?["schedule"] == real["loadpoints"]?[0]?["schedule"])
        #expect(scheduled.json["loadpoints"]?[0]?["target_time"] == "2026-12-01T06:00:00Z")
        // Inside the window no further confirmation is wanted; a base box keeps the derived goal.
        _ = try await bench.get(phone, "/api/loadpoints/garage/schedule", method: "DELETE")
        #expect(try await bench.loadpoint(phone)["target_soc"] == 0.8)
        #expect(try await bench.loadpoint(phone)["schedule"]?["soc"] == 0)
        _ = try await bench.command(
            phone, "loadpoint.hold", ["id": "garage", "power_w": 6900, "hold_s": 120])
        let held = try await bench.get(phone, "/api/loadpoints")
        #expect(Shape.of(held.json) == Shape.of(try Recordings.json("api-loadpoints-held")))
        let hold = try await bench.get(phone, "/api/loadpoints/garage/manual_hold")
        #expect(Shape.of(hold.json) == Shape.of(try Recordings.json("api-manual-hold")))
    }

    @Test func theListOfDevicesIsTheOwnersAlone() async throws {
        let bench = try BoxBench()
        let owner = try await bench.join()
        let viewer = try await bench.join(.viewer, key: 2)
        let list = try await bench.get(owner, "/api/app-link/devices")
        #expect(Shape.of(list.json) == Shape.of(try Recordings.json("api-devices")))
        let refused = try await bench.get(viewer, "/api/app-link/devices")
        #expect(refused.status == 403)
        #expect(refused.json == (try Recordings.json("api-devices-viewer-refused")))
    }
}
