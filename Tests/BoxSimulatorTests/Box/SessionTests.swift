import BoxLink
import FoundationEssentials
import JSONText
import Testing

@testable import BoxSimulator

@Suite struct SessionTests {
    @Test func theHandshakeIsThePublishedOne() async throws {
        let file = try Recordings.json("handshake")
        let hex = { (group: String, name: String) throws -> [UInt8] in
            try Recordings.hex(try #require(file[group]?[name]?.stringValue))
        }
        let identity = try X25519KeyPair(secret: try hex("keys", "boxStatic"))
        let bench = try BoxBench(
            keys: SimulatedBoxSettings(
                identity: identity, rendezvousSecret: SecretBytes(Array(repeating: 3, count: 32))))
        let client = try X25519KeyPair(secret: try hex("keys", "appStatic"))
        await bench.box.enrol(clientKey: client.publicKey)
        await bench.box.useEphemeral(try X25519KeyPair(secret: try hex("keys", "boxEphemeral")))
        await bench.box.receive(try hex("handshakeWithQrCode", "message1"))
        #expect(bench.carrier.take() == [try hex("handshakeWithQrCode", "message2")])
    }

    @Test func aLinkPairsOneClientAndStrangersMeetSilence() async throws {
        let bench = try BoxBench()
        let link = try PairingLink(parsing: await bench.box.pairingLink(role: .owner))
        #expect(link.boxKey == bench.box.settings.identity.publicKey)
        let code = link.code.exported()
        let stranger = try await bench.shake(try BoxBench.keys(5))
        #expect(!stranger.link.isUp)
        let phone = try await bench.shake(try BoxBench.keys(6), code: code)
        #expect(phone.link.isUp)
        let second = try await bench.shake(try BoxBench.keys(7), code: code)
        #expect(!second.link.isUp)
        // It comes back by its key alone.
        #expect(try await bench.shake(try BoxBench.keys(6)).link.isUp)
        await bench.box.receive(Array(repeating: 1, count: 200))
        await bench.box.receive([])
        #expect(bench.carrier.take().isEmpty)
    }

    @Test func aSpokenCodeIsWhatThePersonReads() async throws {
        let bench = try BoxBench()
        let spoken = await bench.box.spokenCode(role: .viewer)
        #expect(spoken.count == 9)
        let code = try SpokenCode.decode(spoken).exported()
        #expect(try await bench.shake(try BoxBench.keys(8), code: code).link.isUp)
    }

    @Test func aFifthSessionPushesOutTheOldestInSilence() async throws {
        let bench = try BoxBench()
        let first = try await bench.join()
        try await bench.greet(first)
        for _ in 0..<4 { _ = try await bench.join() }
        #expect(await bench.box.liveSessionCount == 4)
        #expect(await bench.beat(2, first).isEmpty)
        let message = try #require(first.link.message("plan.get", id: 1))
        await bench.box.receive(message)
        #expect(bench.listen(first).isEmpty)
    }

    @Test func everyBeatIsOneControlFrameAndTheSlowCadenceOneInFive() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        try await bench.greet(phone)
        let fast = await bench.beat(6, phone)
        #expect(fast.compactMap { $0.body["seq"]?.intValue } == [1, 2, 3, 4, 5, 6])
        #expect(fast.allSatisfy { $0.lane == .control && $0.bucket == 512 })
        let again = try await bench.say(phone, "sub", ["bucket": 256, "hz": .float(0.2)])
        #expect(again.isEmpty)
        let slow = await bench.beat(10, phone)
        #expect(slow.compactMap { $0.body["seq"]?.intValue } == [7, 8])
        #expect(slow.allSatisfy { $0.bucket == 512 })
    }

    @Test func aSmallBucketIsKept() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        try await bench.say(phone, "hello", ["proto": ["min": 0, "max": 1]])
        try await bench.say(phone, "sub", ["bucket": 256, "hz": 1])
        #expect(await bench.beat(3, phone).allSatisfy { $0.bucket == 256 })
    }

    @Test(arguments: [
        ["proto": ["min": 0, "max": .float(1)]], ["proto": "1"], [:] as CBORValue,
        ["proto": ["min": 0, "max": 1], "sub": ["bucket": .float(512), "hz": 1]],
    ])
    func aBodyOfTheWrongKindIsNoMessage(body: CBORValue) async throws {
        let bench = try BoxBench()
        let heard = try await bench.say(try await bench.join(), "hello", body)
        // Only an absent protocol is readable; it means the floor.
        #expect(heard.map { $0.body["mode"] } == (body == [:] ? ["floor"] : []))
    }

    @Test func millisecondsAsFloatsGetNoAnswer() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        let window: CBORValue = ["fromMs": .float(1_796_023_000_000), "toMs": 1_796_030_000_000]
        #expect(try await bench.say(phone, "price.get", id: 1, window).isEmpty)
        #expect(try await bench.say(phone, "price.get", ["fromMs": 1, "toMs": 2]).isEmpty)
    }

    @Test func rolesFloorAndBootingShowInTheGreeting() async throws {
        let bench = try BoxBench()
        let viewer = try await bench.join(.viewer, key: 2)
        let seen = try await bench.greet(viewer).first?.body
        #expect(seen?["mode"] == "readonly" && seen?["role"] == "viewer")
        #expect(seen?["scopes"] == ["ftw.live.read"])
        let owner = try await bench.join()
        await bench.box.setBooting(40)
        let boot = try await bench.greet(owner)
        #expect(boot.count == 1)
        #expect(boot[0].body["mode"] == "booting")
        #expect(boot[0].body["boot"] == ["phase": "migrate", "pct": 40, "etaMs": nil])
        #expect(boot[0].body["subscribed"] == nil)
        let refused = try await bench.say(owner, "sub", ["bucket": 512, "hz": 1])
        #expect(refused.first?.body["code"] == "E_BOOTING")
        await bench.box.setBooting(nil)
        #expect(try await bench.greet(owner).map(\.type) == ["hello_ok", "snap"])
        let second = try await bench.greet(owner)
        #expect(second.map(\.type) == ["hello_ok"])
        #expect(second[0].body["subscribed"] == true)
    }

    @Test func anAncientBoxKnowsNoRolesAndFoldsNothing() async throws {
        let bench = try BoxBench(.ancient)
        let phone = try await bench.join()
        let heard = try await bench.greet(phone)
        #expect(heard.map(\.type) == ["hello_ok"])
        let body = heard[0].body
        #expect(body["role"] == nil && body["scopes"] == nil && body["subscribed"] == nil)
        #expect(body["caps"]?.arrayValue?.contains("api.passthrough") == false)
        let snap = try await bench.say(phone, "sub", ["bucket": 512, "hz": 1]).first
        #expect(snap?.body["fields"]?["10"] == nil && snap?.body["dict"]?["10"] == nil)
        let refused = try await bench.call(phone, "/api/status").first
        #expect(refused?.body["code"] == "E_UNKNOWN_OP")
    }

    @Test func aRestartDropsSessionsAndStartsTheCountAgain() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        try await bench.greet(phone)
        _ = try await bench.command(phone, "site.mode.set", ["mode": "idle"])
        await bench.box.restart()
        #expect(bench.carrier.redials == 1)
        #expect(await bench.beat(2, phone).isEmpty)
        let again = try await bench.join()
        let heard = try await bench.greet(again)
        #expect(heard[0].body["clock"]?["uptimeMs"] == 2_000)
        #expect(heard[1].body["controlRev"] == 1)
        #expect(try await bench.say(again, "plan.get", id: 1).first?.body["rev"] == 1)
    }

    @Test func aModeChangeFromElsewhereBringsANewSnapshot() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        try await bench.greet(phone)
        await bench.beat(2, phone)
        bench.house.now { $0.mode = "idle" }
        let heard = await bench.beat(1, phone)
        #expect(heard.map(\.type).first == "snap")
        #expect(heard[0].body["controlRev"] == 2)
        #expect(heard[0].body["fields"]?["1"] == 2)
        #expect(heard[1].body["seq"] == 3)
    }

    @Test func manySourcesNeverFitSoEveryBeatIsCut() async throws {
        let bench = try BoxBench()
        await bench.box.setSourceCount(7)
        let phone = try await bench.join()
        let snap = try await bench.greet(phone).last
        #expect(snap?.body["sources"]?.mapValue?.count == 7)
        #expect(await bench.beat(1, phone).allSatisfy { !$0.isTruncated })
        await bench.box.setSource("roof-pv", .offline)
        let cut = await bench.beat(3, phone)
        #expect(cut.count == 3)
        #expect(cut.allSatisfy { $0.isTruncated && $0.type == "delta" && $0.body["sources"] == nil })
    }

    @Test func revocationIsSaidOnceThenNothing() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        try await bench.greet(phone)
        await bench.box.revoke(clientKey: try BoxBench.keys(1).publicKey)
        #expect(bench.listen(phone).map(\.type) == ["session.terminate"])
        #expect(await bench.beat(2, phone).isEmpty)
        #expect(!(try await bench.shake(try BoxBench.keys(1)).link.isUp))
    }

    @Test func aQuietRevocationShowsAtTheNextRequest() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        try await bench.greet(phone)
        await bench.box.revoke(clientKey: try BoxBench.keys(1).publicKey, tells: false)
        let heard = try await bench.call(phone, "/api/mode")
        #expect(heard.map(\.type) == ["error", "session.terminate"])
        #expect(heard[0].body["code"] == "E_GRANT_REVOKED")
    }

    @Test func strangeKeysAndTypesAreSentWhenAsked() async throws {
        let bench = try BoxBench()
        await bench.box.setUnknownKeys(true)
        let phone = try await bench.join()
        let heard = try await bench.greet(phone)
        #expect(heard.allSatisfy { $0.body["xNext"] != nil })
        #expect(heard[1].body["fields"]?["200"] == 7)
        #expect(await bench.beat(1, phone).map(\.type).contains("weather.hint"))
    }

    @Test func aMuteBoxSendsNothing() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        try await bench.greet(phone)
        await bench.box.setMute(true)
        #expect(await bench.beat(3, phone).isEmpty)
        await bench.box.setMute(false)
        #expect(await bench.beat(1, phone).count == 1)
    }

    @Test func aHouseWithoutBatteryAndChargerSaysNothingOfThem() async throws {
        var settings = SimulatedHouseSettings()
        settings.battery = nil
        settings.chargers = []
        let bench = try BoxBench(house: settings)
        let phone = try await bench.join()
        let heard = try await bench.greet(phone)
        #expect(heard[0].body["caps"]?.arrayValue?.contains("der.ev") == false)
        let fields = heard[1].body["fields"]
        #expect(fields?["5"] == nil && fields?["10"] == nil && fields?["4"] == 0)
        let list = try await bench.get(phone, "/api/loadpoints")
        #expect(list.json == ["enabled": false, "loadpoints": []])
        let hold = try await bench.command(phone, "loadpoint.hold", ["id": "garage", "power_w": 0])
        #expect(hold.first?.body["error"]?["args"] == ["subsystem": "loadpoints"])
    }

    @Test func batteryAndChargersCanBeTakenOut() async throws {
        let bench = try BoxBench()
        await bench.box.removeBattery()
        await bench.box.removeChargers()
        let snap = try await bench.greet(try await bench.join()).last
        #expect(snap?.body["fields"]?["5"] == nil && snap?.body["fields"]?["10"] == nil)
        #expect(snap?.body["sources"]?.mapValue?.members.map(\.key) == ["roof-pv", "grid-meter"])
        #expect(await bench.box.sourceNames == ["grid-meter", "roof-pv"])
    }

    @Test func aSeedMakesTheSameKeysAndNoCodeIsPartOfThem() async throws {
        let one = try SimulatedBoxSettings(seed: 11)
        let two = try SimulatedBoxSettings(seed: 11)
        #expect(one.identity.publicKey == two.identity.publicKey)
        #expect(try SimulatedBoxSettings().identity.publicKey != one.identity.publicKey)
        let bench = try BoxBench(keys: one)
        let link = await bench.box.pairingLink()
        #expect(await bench.box.pairingLink() != link)
        let code = try PairingLink(parsing: link).code.exported()
        let secret = one.rendezvousSecret.exported() + one.identity.exportSecret()
        #expect(!secret.indices.contains { secret[$0...].starts(with: code) })
    }

    @Test func aServiceThatIsNotUpYetAnswers503() async throws {
        let bench = try BoxBench()
        let phone = try await bench.join()
        await bench.box.setHTTPError(status: 503)
        #expect(try await bench.get(phone, "/api/status").status == 503)
        await bench.box.setHTTPError(status: nil)
        #expect(try await bench.get(phone, "/api/status").status == 200)
    }
}
