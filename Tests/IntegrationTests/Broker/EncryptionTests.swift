import MQTTClient
import MQTTTypes
import Testing

@Suite(.needsBroker, .timeLimit(.minutes(2))) struct EncryptionTests {
    private let files: TestCertificates

    init() throws { files = try TestCertificates() }

    private func broker(
        _ server: TestCertificates.Server, clientCertificate: Bool = false, lines: [String] = []
    )
        throws -> TestBroker
    {
        var options = TestBroker.Options()
        options.tls = server
        options.requiresClientCertificate = clientCertificate
        options.lines = lines
        return try TestBroker(options)
    }

    private func settings(_ broker: TestBroker, host: String = "127.0.0.1", _ tls: MQTTEncryption)
        -> MQTTSettings
    {
        var settings = broker.settings(clientID: "bridge")
        settings.host = host
        settings.tls = tls
        settings.connectTimeout = .seconds(5)
        return settings
    }

    /// A broker that refuses our certificate may reset the connection before its
    /// reason is read; then the attempt says only that TLS failed, and a later
    /// one has the reason.
    private func loss(_ settings: MQTTSettings, retrying: Bool = false) async throws -> BrokerLoss {
        let client = TestClient(settings)
        var loss = try await client.lost()
        for _ in 0..<20 where retrying && loss.code == .tlsFailed { loss = try await client.lost() }
        await client.abandon()
        #expect(!client.seen.contains { if case .connected = $0 { true } else { false } })
        return loss
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func aCertificateFromOurAuthorityIsAccepted(_ host: String) async throws {
        let broker = try broker(files.server)
        let client = TestClient(settings(broker, host: host, MQTTEncryption(caFile: files.authority)))
        try await client.connected()
        for number in 0..<200 {
            client.client.publish(Message("t/\(number)", Array(repeating: 65, count: 5_000), retained: true))
        }
        await client.client.drain(limit: .seconds(20))
        #expect(client.client.counters().publishes == 200)
        await client.close()
    }

    @Test func aCertificateForAnotherHostIsToldApart() async throws {
        let broker = try broker(files.elsewhere)
        let loss = try await loss(settings(broker, MQTTEncryption(caFile: files.authority)))
        #expect(loss.code == .tlsWrongHost)
        #expect(loss.sentence.contains("another host name"))
    }

    @Test func anUnknownAuthorityIsToldApart() async throws {
        let broker = try broker(files.stranger)
        let loss = try await loss(settings(broker, MQTTEncryption(caFile: files.authority)))
        #expect(loss.code == .tlsUnknownAuthority)
        #expect(loss.sentence.contains(files.authority))
    }

    @Test func theSystemDoesNotKnowOurAuthority() async throws {
        let broker = try broker(files.server)
        let loss = try await loss(settings(broker, MQTTEncryption()))
        #expect(loss.code == .tlsUnknownAuthority)
        #expect(loss.sentence.contains("the system's authorities"))
    }

    @Test(arguments: ["tlsv1.2", "tlsv1.3"])
    func aBrokerThatWantsAClientCertificateIsToldApart(_ version: String) async throws {
        let broker = try broker(files.server, clientCertificate: true, lines: ["tls_version \(version)"])
        let loss = try await loss(settings(broker, MQTTEncryption(caFile: files.authority)), retrying: true)
        #expect(loss.code == .tlsClientCertificate)
        #expect(loss.sentence.contains("none is configured"))
    }

    @Test func ourClientCertificateIsShown() async throws {
        let broker = try broker(files.server, clientCertificate: true)
        let tls = MQTTEncryption(
            caFile: files.authority,
            certificate: .init(certificateFile: files.clientCertificate, keyFile: files.clientKey))
        let client = TestClient(settings(broker, tls))
        try await client.connected()
        await client.close()
    }

    @Test func aClientCertificateNobodyKnowsIsToldApart() async throws {
        let broker = try broker(files.server, clientCertificate: true)
        let tls = MQTTEncryption(
            caFile: files.authority,
            certificate: .init(certificateFile: files.stranger.certificate, keyFile: files.stranger.key))
        let loss = try await loss(settings(broker, tls), retrying: true)
        #expect(loss.code == .tlsClientCertificate)
        #expect(loss.sentence.contains("does not accept our client certificate"))
    }

    @Test func aClientCertificateWorksBesideTheSystemsAuthorities() async throws {
        let broker = try broker(files.server, clientCertificate: true)
        let tls = MQTTEncryption(
            certificate: .init(certificateFile: files.clientCertificate, keyFile: files.clientKey))
        #expect(try await loss(settings(broker, tls)).code == .tlsUnknownAuthority)
    }

    @Test func aFileThatIsNotThereIsNamed() async throws {
        let broker = try broker(files.server)
        let loss = try await loss(settings(broker, MQTTEncryption(caFile: "/no/such/file.pem")))
        #expect(loss.code == .tlsFailed)
        #expect(loss.sentence == "The file /no/such/file.pem cannot be read; TLS needs it.")
    }

    @Test func aFileThatIsNoCertificateIsAFailure() async throws {
        let broker = try broker(files.server)
        let loss = try await loss(settings(broker, MQTTEncryption(caFile: "/etc/hostname")))
        #expect(loss.code == .tlsFailed)
    }

    @Test func aPortWithoutTLSIsToldApart() async throws {
        let broker = try TestBroker()
        let loss = try await loss(settings(broker, MQTTEncryption(caFile: files.authority)))
        #expect(loss.code == .tlsFailed, "\(loss.sentence)")
    }

    @Test func aPortThatSwallowsTheHandshakeIsLeft() async throws {
        let fake = try FakeBroker { _ in .silence }
        defer { fake.stop() }
        var settings = MQTTSettings(host: "127.0.0.1", port: fake.port, clientID: "bridge")
        settings.tls = MQTTEncryption(caFile: files.authority)
        settings.connectTimeout = .seconds(1)
        #expect(try await loss(settings).code == .unreachable)
    }
}
