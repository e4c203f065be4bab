import BoxLink
import FoundationEssentials
import JSONText
import TestSupport
import Testing

@testable import BoxSimulator

@Suite struct PassthroughTests {
    @Test func aLongAnswerComesInChunks() async throws {
        let bench = try BoxBench(.soc)
        bench.house.arrange(.carLive(0.4))
        let phone = try await bench.join()
        let heard = try await bench.call(phone, "/api/mpc/plan")
        let chunks = heard.filter { $0.type == "api.chunk" }
        #expect(chunks.count > 2)
        #expect(chunks.compactMap { $0.body["seq"]?.intValue } == Array(0..<Int64(chunks.count)))
        let sizes = chunks.compactMap { $0.body["data"]?.bytesValue?.count }
        #expect(sizes.dropLast().allSatisfy { $0 == 12_288 })
        #expect(heard.last?.body["bytes"] == .int(Int64(sizes.reduce(0, +))))
        #expect(heard.allSatisfy { $0.id == 9 && $0.lane == .bulk })
    }

    @Test func aCeilingCutsTheAnswer() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        let heard = try await bench.say(
            phone, "api.req", id: 3, ["method": "GET", "path": "/api/modes", "maxBytes": 100])
        #expect(heard.last?.body == ["bytes": 100, "truncated": true])
        let head = try await bench.call(phone, "/api/modes", method: "HEAD")
        #expect(head.map(\.type) == ["api.head", "api.end"])
    }

    @Test func thereIsOneSlot() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        try await bench.greet(phone)
        await bench.box.setAnswerDelay(beats: 2)
        #expect(try await bench.call(phone, "/api/mode", id: 1).isEmpty)
        let busy = try await bench.call(phone, "/api/modes", id: 2)
        #expect(busy.first?.body["args"] == ["reason": "busy"])
        #expect(await bench.beat(2, phone).allSatisfy { $0.lane == .control })
        let answer = await bench.beat(1, phone)
        #expect(answer.filter { $0.lane == .bulk }.map(\.type) == ["api.head", "api.chunk", "api.end"])
        await bench.box.setAnswerDelay(beats: 0)
        #expect(try await bench.call(phone, "/api/mode", id: 3).count == 3)
        // Somebody else has a slot of their own.
        #expect(await bench.box.requestLog.requests.map(\.refusal) == ["E_UNAVAILABLE", nil, nil])
    }

    @Test(arguments: [
        ("get", "/api/mode", "method"), ("GET", "/mode", "path"), ("GET", "/api/../x", "path"),
        ("GET", "/api//mode", "path"), ("GET", "/api/mode?x=1", "path"), ("GET", "/api/mode#x", "path"),
        ("GET", "/api/mo\u{1}de", "path"), ("GET", "/api/nothing", "path"),
    ])
    func aMalformedCallIsRefusedByTheFieldAtFault(method: String, path: String, field: String) async throws {
        let bench = try BoxBench()
        let heard = try await bench.call(try await bench.join(), path, method: method)
        #expect(heard.first?.body["args"] == ["t": "api.req", "field": .text(field)])
    }

    @Test func theWrongKindOfValueGetsNoAnswer() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        let calls: [CBORValue] = [
            ["method": "GET", "path": 1], ["method": "GET", "path": "/api/mode", "query": ["days": 2]],
            ["method": "GET", "path": "/api/mode", "body": "{}"],
            ["method": "GET", "path": "/api/mode", "maxBytes": .float(5)],
        ]
        for call in calls { #expect(try await bench.say(phone, "api.req", id: 1, call).isEmpty) }
        let nameless = try await bench.say(phone, "api.req", ["method": "GET", "path": "/api/mode"])
        #expect(nameless.isEmpty)
    }

    @Test func aPathTooLongToRefuseGetsNoAnswerAndTheSessionLives() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        let path = "/api/loadpoints/" + String(repeating: "x", count: 700) + "/soc"
        #expect(try await bench.call(phone, path, method: "POST").isEmpty)
        #expect(await bench.box.liveSessionCount == 1)
    }

    @Test func savingTheGoalNeedsAnOwnerAndOnOlderBoxesAConfirmation() async throws {
        let path = "/api/loadpoints/garage/schedule"
        let body = #"{"soc":0.9,"time_of_day_min":420,"time_of_day_min_utc":360,"recurring":true,"days":31}"#
        let late = try BoxBench(.late)
        let owner = try await late.join()
        let viewer = try await late.join(.viewer, key: 2)
        let denied = try await late.call(viewer, path, method: "PUT", body: body)
        #expect(denied.first?.body["args"] == ["needRole": "owner", "role": "viewer"])
        #expect(try await late.get(owner, path, method: "PUT", body: body).status == 200)
        let saved = try await late.loadpoint(owner)["schedule"]
        #expect(saved?["time_of_day_min"] == 420 && saved?["days"] == 31 && saved?["soc"] == 0.9)
        #expect(try await late.get(owner, path, method: "PUT", body: "null").status == 200)
        #expect(try await late.loadpoint(owner)["target_time"] == "0001-01-01T00:00:00Z")

        let soc = try BoxBench(.soc)
        let other = try await soc.join()
        let wanted = try await soc.call(other, path, method: "PUT", body: body)
        #expect(wanted.first?.body["code"] == "E_NEEDS_STEP_UP")
        #expect(try await soc.get(other, path, method: "PUT", body: body, stepUp: true).status == 200)
        #expect(try await soc.loadpoint(other)["schedule"]?["time_of_day_min"] == nil)
        soc.time.advance(by: .seconds(301))
        let lapsed = try await soc.call(other, path, method: "PUT", body: body)
        #expect(lapsed.first?.body["code"] == "E_NEEDS_STEP_UP")
    }

    @Test(arguments: [
        ("", "empty body"), ("{", "invalid character"), (#"{"soc":"x"}"#, "invalid schedule:"),
        (#"{"soc":0.8,"time_of_day_min_utc":1440}"#, "time_of_day_min_utc must be"),
        (#"{"soc":0.8,"days":128}"#, "days must be a 7-bit"), (#"{"days":1.5}"#, "invalid schedule:"),
    ])
    func aBadGoalIsAnswered400(body: String, start: String) async throws {
        let bench = try BoxBench(.late)
        let answer = try await bench.get(
            try await bench.join(), "/api/loadpoints/garage/schedule", method: "PUT", body: body)
        #expect(answer.status == 400)
        #expect(answer.json["error"]?.stringValue?.hasPrefix(start) == true)
    }

    @Test func pricesAndEnergyAgreeWithTheHouse() async throws {
        let bench = try BoxBench(.soc)
        let phone = try await bench.join()
        let start = Int64(1_795_993_200_000)
        let prices = try await bench.get(
            phone, "/api/prices",
            query: [("since_ms", .text("\(start)")), ("until_ms", .text("\(start + 86_400_000)"))])
        #expect(prices.json["items"]?.arrayValue?.count == 96)
        let daily = try await bench.get(phone, "/api/energy/daily", query: [("days", "2")])
        let today = try #require(daily.json["days"]?[1])
        #expect(today["day"] == "2026-11-30")
        let ledger = try await bench.get(
            phone, "/api/energy/history", query: [("since", .text("\(start)")), ("bucket", "1h")])
        let points = try #require(ledger.json["points"]?.arrayValue)
        let load = points.filter { $0["flow"] == "consumer_use" }.compactMap { $0["energy_wh"]?.doubleValue }
        let total = load.reduce(0, +)
        #expect(abs(total - (today["load_wh"]?.doubleValue ?? 0)) < 1)
        #expect(points.contains { $0["flow"] == "vehicle_charge" })
        await bench.box.setPrices(false)
        #expect(try await bench.get(phone, "/api/prices").json == ["items": [], "enabled": false])
    }

    @Test func everyRequestIsOnTheList() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        _ = try await bench.get(phone, "/api/energy/daily", query: [("days", "2")])
        _ = try await bench.get(phone, "/api/mode")
        let log = await bench.box.requestLog
        #expect(log.requests.map(\.path) == ["/api/energy/daily", "/api/mode"])
        #expect(log.requests[0].query == ["days=2"] && log.requests[0].status == 200)
        #expect(log.count("/api/mode") == 1)
        #expect(log.requests[0].client == BoxNames.deviceID(clientKey: try BoxBench.keys(1).publicKey))
        await bench.box.clearLog()
        #expect(await bench.box.requestLog.requests.isEmpty)
    }
}
