import Ambient
import MQTTClient
import MQTTTypes
import Testing

@Suite(.needsBroker, .timeLimit(.minutes(2))) struct AccessTests {
    /// Passwords that have been mangled by URLs, forms, shells or YAML elsewhere.
    private static let passwords = [
        #"p#a@s%20s:ö"'\ $x"#, "#", "@", "%", "å", " leading and trailing ", "a=b&c", "${HOME}", "\t", "null",
        String(repeating: "x", count: 200),
    ]

    @Test(arguments: passwords)
    func aPasswordIsHandedOverByteForByte(_ password: String) async throws {
        var options = TestBroker.Options()
        options.users = [("us er ö", password)]
        let broker = try TestBroker(options)
        var settings = broker.settings(clientID: "bridge")
        settings.credentials = MQTTCredentials(user: "us er ö", password: password)
        let client = TestClient(settings)
        try await client.connected()
        await client.close()
        #expect(client.seen.count == 2)
    }

    @Test(arguments: [MQTTSettings.ProtocolPreference.v5, .v311])
    func aWrongPasswordIsSaidWithoutShowingIt(_ preference: MQTTSettings.ProtocolPreference) async throws {
        var options = TestBroker.Options()
        options.users = [("bridge", "right")]
        let broker = try TestBroker(options)
        var settings = broker.settings(clientID: "bridge")
        settings.protocolPreference = preference
        settings.credentials = MQTTCredentials(user: "bridge", password: "secret-and-wrong")
        let client = TestClient(settings)
        let loss = try await client.lost()
        #expect(loss.code == .notAuthorized)
        #expect(loss.sentence.contains("user name"))
        #expect(loss.retryIn == .milliseconds(250))
        try await client.lost()
        await client.close()
        #expect(client.lines.all.filter { $0.level == .error }.count == 1)
        let everything =
            client.lines.texts.joined() + "\(client.seen)" + "\(settings)" + String(reflecting: settings)
        #expect(!everything.contains("secret-and-wrong"))
        #expect(!everything.contains("c2VjcmV0LWFuZC13cm9uZ"))
    }

    @Test func aMessageWithoutTheRightIsCountedAndSaidOnce() async throws {
        let broker = try TestBroker()
        try broker.folder.write("acl", "topic read #\ntopic write open/#\n")
        broker.stop()
        try broker.folder.write(
            "mosquitto.conf",
            broker.folder.read("mosquitto.conf") + "acl_file \(broker.folder.path)/acl\n")
        try broker.start()
        let client = try await TestClient.subscribed(broker.settings(clientID: "bridge"), to: ["#"])
        client.client.publish(Message("closed/1", "x"))
        client.client.publish(Message("closed/1", "y"))
        client.client.publish(Message("open/1", "z"))
        try await client.message("open/1")
        #expect(client.client.counters().refused == 2)
        #expect(client.lines.containing("closed/1") == ["the broker did not take closed/1: not authorized"])
        await client.close()
    }

    @Test(arguments: [2_048, 20_000])
    func aMessageLargerThanTheBrokerTakesIsLeftOutAndTheRestGoesOn(_ limit: Int) async throws {
        var options = TestBroker.Options()
        options.maximumPacketBytes = limit
        let broker = try TestBroker(options)
        let client = TestClient(broker.settings(clientID: "bridge"))
        #expect(try await client.connected().maximumPacketBytes == limit)
        // Type and flags 1, length 2 or 3, topic 2 + 3, packet id 2, properties 1.
        let overhead = 1 + (limit - 3 < 16_384 ? 2 : 3) + 5 + 2 + 1
        client.client.publish(Message("r/1", Array(repeating: 65, count: limit - overhead), retained: true))
        for _ in 0..<3 {
            client.client.publish(
                Message("r/2", Array(repeating: 65, count: limit - overhead + 1), retained: true))
            await client.client.drain(limit: .seconds(10))
        }
        client.client.publish(Message("r/3", Array(repeating: 65, count: 60_000), retained: true))
        client.client.publish(Message("r/4", "small", retained: true))
        await client.client.drain(limit: .seconds(10))
        let counters = client.client.counters()
        #expect(counters.oversize == 4 && counters.connects == 1)
        let dump = try await TestClient.retained(broker.settings(clientID: ""))
        #expect(dump.keys.sorted() == ["r/1", "r/4"])
        #expect(
            client.lines.containing("left out") == [
                "r/2 is left out: \(limit + 1) bytes, and the broker takes packets of up to \(limit)",
                "r/3 is left out: \(60_000 + (60_000 < 16_384 ? 2 : 3) + 9) bytes, and the broker takes packets of up to \(limit)",
            ])
        await client.close()
    }
}
