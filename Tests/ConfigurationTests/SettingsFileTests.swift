import TestSupport
import Testing

@testable import Configuration

@Suite struct SettingsFileTests {
    /// `p#a@s%20s:ö"'\ $x`: every character that some notation treats specially.
    static let oddPassword = "p#a@s%20s:ö\"'\\ $x"

    @Test(arguments: ["", "# nothing\n", "{}", "---\n...\n", "mqtt:\nlog:\n", "~"])
    func anEmptyFileMeansTheDefaults(text: String) throws {
        #expect(try parse(text).settings == Settings())
    }

    @Test func everyKeyCanBeSet() throws {
        let text = """
            language: sv
            state_dir: /srv/ftw
            read_only: yes
            log: {level: debug}
            mqtt:
              host: fe80::1
              port: "8884"
              user: ftw
              password_file: /pw/good
              client_id: my-bridge
              base_topic: hus/el
              keep_alive_s: 60
              protocol: 3.1.1
              rate: fast
              values: on
              discovery: off
              discovery_prefix: ha
              tls: {ca_file: /pem/ca, certificate_file: /pem/cert, key_file: /pem/key}
            relay: {url: "ws://relay.lan:8080/", ca_file: /pem/ca, allow_plain: true}
            sites:
              - {id: home, name: Hemma, zone: Europe/Stockholm, read_only: true}
              - id: cabin-2
            commands: {allow: [mode, level], goal_consent: true}
            car: {read_interval: 2min}
            prices: {cheap_hours: [6, 1], cheap_now: {window: 6}}
            energy: {start: backfill}
            voice: {hermes: true, prefix: Home_}
            """
        let settings = try parse(text).settings
        #expect(settings.language == .sv)
        #expect(settings.stateDir == "/srv/ftw")
        #expect(settings.log.level == .debug)
        let mqtt = settings.mqtt
        #expect(mqtt.host == "fe80::1" && mqtt.port == 8884 && mqtt.user == "ftw")
        #expect(mqtt.password == Secret(Array("s3cret-word".utf8)))
        #expect(mqtt.clientID == "my-bridge" && mqtt.baseTopic == "hus/el" && mqtt.keepAliveSeconds == 60)
        #expect(mqtt.version == .v311 && mqtt.rate == .fast && mqtt.values && !mqtt.discovery)
        #expect(mqtt.discoveryPrefix == "ha")
        #expect(mqtt.tls == .init(caFile: "/pem/ca", certificateFile: "/pem/cert", keyFile: "/pem/key"))
        #expect(settings.relay == .init(url: "ws://relay.lan:8080/", caFile: "/pem/ca", allowPlain: true))
        #expect(settings.sites.map(\.id) == ["home", "cabin-2"])
        #expect(settings.sites.map(\.name) == ["Hemma", "Cabin-2"])
        #expect(settings.sites.map(\.zone) == ["Europe/Stockholm", nil])
        #expect(settings.sites.map(\.readOnly) == [true, false])
        #expect(settings.sites.map { settings.isReadOnly($0) } == [true, true])
        #expect(settings.commands == .init(allow: [.level, .mode], goalConsent: true))
        #expect(settings.car.readInterval == .seconds(120))
        #expect(settings.prices.cheapHours == [1, 6] && settings.prices.cheapNow == .window(hours: 6))
        #expect(settings.energy.start == .backfill && settings.voice.hermes)
        #expect(settings.voice.prefix == "Home_")
    }

    @Test(arguments: [
        ("mqtt: {}", false, 1883), ("mqtt: {tls: true}", true, 8883), ("mqtt: {tls: {}}", true, 8883),
        ("mqtt:\n  tls:\n", true, 8883), ("mqtt: {tls: false}", false, 1883),
        ("mqtt: {tls: true, port: 9}", true, 9),
    ])
    func namingTLSSwitchesItOnAndMovesThePort(text: String, usesTLS: Bool, port: Int) throws {
        let mqtt = try parse(text).settings.mqtt
        #expect((mqtt.tls != nil) == usesTLS)
        #expect(mqtt.port == port)
    }

    @Test(arguments: [
        ("60", 60), ("60s", 60), ("60 s", 60), ("15sec", 15), ("5min", 300), ("10m", 600), ("600", 600),
    ])
    func timesTakeUnits(text: String, seconds: Int) throws {
        #expect(try parse("car: {read_interval: \(text)}").settings.car.readInterval == .seconds(seconds))
    }

    @Test(arguments: [
        ("[]", []), ("none", []), ("all", Settings.CommandName.allCases), ("level, mode", [.level, .mode]),
        ("[boost, boost]", [.boost]),
    ])
    func commandsAreAListOrAWord(text: String, allow: [Settings.CommandName]) throws {
        #expect(try parse("commands:\n  allow: \(text)").settings.commands.allow == allow)
    }

    @Test(arguments: [
        ("level: 1", Settings.CheapRule.level(1)), ("under: -0.10", .under(-0.1)),
        ("window: 2", .window(hours: 2)),
    ])
    func cheapNowFollowsOneRule(text: String, rule: Settings.CheapRule) throws {
        #expect(try parse("prices:\n  cheap_now:\n    \(text)").settings.prices.cheapNow == rule)
    }

    // MARK: Passwords

    @Test func anOddPasswordArrivesByteForByteFromTheFileItself() throws {
        let quoted = Self.oddPassword.replacing("'", with: "''")
        let loaded = try parse("mqtt:\n  user: u\n  password: '\(quoted)'")
        #expect(loaded.settings.mqtt.password?.bytes == Array(Self.oddPassword.utf8))
        #expect(loaded.warnings.isEmpty)
    }

    @Test func anOddPasswordArrivesByteForByteFromTheEnvironment() throws {
        let loaded = try parse("mqtt: {user: u}", ["FTW_MQTT_PASSWORD": Self.oddPassword])
        #expect(loaded.settings.mqtt.password?.bytes == Array(Self.oddPassword.utf8))
    }

    @Test(arguments: ["", "\n"])
    func anOddPasswordArrivesByteForByteFromItsFile(end: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("pw", Array((Self.oddPassword + end).utf8))
        let file = try folder.write("config.yaml", Array("mqtt: {user: u, password_file: pw}".utf8))
        let loaded = try SettingsFile.load(path: file)
        #expect(loaded.settings.mqtt.password?.bytes == Array(Self.oddPassword.utf8))
        #expect(loaded.settings.mqtt.passwordFile == "\(folder.path)/pw")
    }

    @Test(arguments: [
        (Array("a\n\n".utf8), Array("a\n".utf8)), (Array("a\r\n".utf8), Array("a\r".utf8)),
        ([0xFF, 0x00], [0xFF, 0x00]),
        (Array(" a ".utf8), Array(" a ".utf8)),
    ])
    func onlyOneLineEndIsTakenFromAPasswordFile(content: [UInt8], password: [UInt8]) throws {
        let folder = try TemporaryFolder()
        let pw = try folder.write("pw", content)
        let loaded = try SettingsFile.parse(Array("mqtt: {user: u, password_file: \(pw)}".utf8))
        #expect(loaded.settings.mqtt.password?.bytes == password)
    }

    @Test(arguments: [UInt32(0o644), 0o604, 0o660, 0o602])
    func aPasswordFileThatOthersMayReadIsRefused(mode: UInt32) throws {
        let folder = try TemporaryFolder()
        let pw = try folder.write("pw", Array("s3cret-word".utf8), mode: mode)
        let error = #expect(throws: SettingsError.self) {
            try SettingsFile.parse(Array("mqtt: {user: u, password_file: \(pw)}".utf8))
        }
        let text = error?.description ?? ""
        #expect(text.contains("run: chmod 600 \(pw)") && !text.contains("s3cret"))
    }

    @Test(arguments: [UInt32(0o600), 0o640, 0o400, 0o440])
    func aPasswordFileForUsAndOurGroupIsTaken(mode: UInt32) throws {
        let folder = try TemporaryFolder()
        let pw = try folder.write("pw", Array("s3cret-word".utf8), mode: mode)
        let loaded = try SettingsFile.parse(Array("mqtt: {user: u, password_file: \(pw)}".utf8))
        #expect(loaded.settings.mqtt.password == Secret(Array("s3cret-word".utf8)))
    }

    @Test(arguments: ["config.yaml", "/etc/x/config.yaml"])
    func aPasswordTypedInPlaceOfItsFileIsNotShown(name: String) {
        let error = #expect(throws: SettingsError.self) {
            try parse("mqtt: {user: u, password_file: longsecret}", name: name)
        }
        #expect(error?.problems.map(\.text) == ["mqtt.password_file: the file does not exist"])
    }

    @Test func aSecretLentByAContainerMayBeReadableForAll() throws {
        let loaded = try parse("mqtt: {user: u, password_file: /run/secrets/mqtt}")
        #expect(loaded.settings.mqtt.password == Secret(Array("s3cret-word".utf8)))
    }

    @Test func noWayOfPrintingSettingsShowsThePassword() throws {
        let settings = try parse("mqtt: {user: u, password: s3cret-word}").settings
        var dumped = ""
        dump(settings, to: &dumped)
        for text in [dumped, "\(settings)", String(reflecting: settings), "\(settings.mqtt.password as Any)"]
        {
            #expect(!text.contains("s3cret") && !text.contains("115"))
        }
    }

    @Test func aPasswordThatAStrayCommentCutsOffIsWarnedAbout() throws {
        let loaded = try parse("mqtt:\n  user: u\n  password: half #half")
        #expect(
            loaded.warnings.map(\.description) == [
                "config.yaml:3:13: mqtt.password ends before a #, which starts a comment; "
                    + "if the # belongs to it, put it in single quotes"
            ])
    }

    @Test(arguments: [
        (
            "mqtt: {port: 8883}",
            "config.yaml:1:14: mqtt.port is 8883, where brokers expect TLS; add mqtt.tls: true if yours does"
        ),
        (
            "mqtt: {port: 1883, tls: true}",
            "config.yaml:1:14: mqtt.port is 1883, where brokers expect no TLS; with TLS it is usually 8883"
        ),
    ])
    func aPortThatDoesNotFitIsWarnedAbout(text: String, warning: String) throws {
        #expect(try parse(text).warnings.map(\.description) == [warning])
    }

    // MARK: The file on disk

    @Test func aNamedFileThatIsMissingIsAFault() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: SettingsError.self) {
            try SettingsFile.load(path: "\(folder.path)/none.yaml", environment: [:])
        }
        #expect(error?.description == "\(folder.path)/none.yaml: there is no such file")
        #expect(throws: SettingsError.self) { try SettingsFile.load(path: folder.path) }
    }

    @Test func withoutAnyFileTheDefaultsAndVariablesHold() throws {
        let loaded = try SettingsFile.load(
            environment: ["FTW_MQTT_HOST": "broker", "HOME": "/"], files: FakeFiles.usual.look)
        #expect(loaded.settings.mqtt.host == "broker" && loaded.path == nil)
    }

    @Test func theVariableNamesTheFile() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("c.yaml", Array("language: sv".utf8))
        let loaded = try SettingsFile.load(environment: ["FTW_MQTT_CONFIG": file])
        #expect(loaded.settings.language == .sv && loaded.path == file)
    }

    @Test(arguments: [(UInt32(0o644), 1), (0o640, 0)])
    func aPasswordInAFileForEverybodyIsWarnedAbout(mode: UInt32, count: Int) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "c.yaml", Array("mqtt: {user: u, password: s3cret-word}".utf8), mode: mode)
        let warnings = try SettingsFile.load(path: file).warnings
        #expect(warnings.count == count)
        if let text = warnings.first?.description {
            #expect(
                text.hasSuffix(
                    "everybody on this machine can read the password in it; run: chmod 640 \(file)"))
        }
    }
}
