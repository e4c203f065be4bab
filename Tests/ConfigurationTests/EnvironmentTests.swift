import Testing

@testable import Configuration

@Suite struct EnvironmentTests {
    @Test func eachNameBelongsToOneKey() {
        let names = SettingKey.all.flatMap(\.environmentNames)
        #expect(Set(names).count == names.count)
        #expect(names.contains("FTW_MQTT_HOST") && names.contains("FTW_MQTT_MQTT_HOST"))
        #expect(names.contains("FTW_MQTT_RELAY_URL") && names.contains("FTW_MQTT_PRICES_CHEAP_NOW_UNDER"))
    }

    /// A value other than the default for every key, to see that each variable arrives.
    static let values: [String: String] = [
        "language": "sv", "state_dir": "/x", "read_only": "true", "log.level": "debug", "mqtt.host": "h",
        "mqtt.port": "1", "mqtt.user": "u", "mqtt.client_id": "c", "mqtt.base_topic": "b",
        "mqtt.keep_alive_s": "31", "mqtt.protocol": "5", "mqtt.rate": "calm", "mqtt.values": "yes",
        "mqtt.discovery": "no", "mqtt.discovery_prefix": "d", "mqtt.tls": "true",
        "mqtt.tls.ca_file": "/pem/ca",
        "relay.url": "wss://r", "relay.ca_file": "/pem/ca", "relay.allow_plain": "true",
        "commands.allow": "level, mode", "commands.goal_consent": "true", "car.read_interval": "5min",
        "prices.cheap_hours": "1,5", "prices.cheap_now.level": "2", "prices.cheap_now.under": "0.1",
        "prices.cheap_now.window": "2", "energy.start": "backfill", "voice.hermes": "true",
        "voice.prefix": "Car",
    ]

    @Test(arguments: SettingKey.all.filter { !$0.environmentNames.isEmpty }.map(\.path))
    func everyScalarCanComeFromAVariable(path: String) throws {
        // These only go together with others, and are tried elsewhere.
        guard path != "mqtt.password", path != "mqtt.password_file", !path.hasSuffix("certificate_file"),
            !path.hasSuffix("key_file")
        else { return }
        let key = try #require(SettingKey.all.first { $0.path == path })
        let value = try #require(Self.values[path])
        for name in key.environmentNames {
            let settings = try parse("", [name: value]).settings
            let difference = reloadDifference(Settings(), settings)
            let changed = difference.live + difference.restart
            // A file of TLS brings TLS with it, a rule for cheap replaces the other.
            #expect(changed.contains(path), "\(name)")
        }
    }

    @Test func aVariableWinsOverTheFile() throws {
        let settings = try parse("mqtt: {host: a, port: 5}", ["FTW_MQTT_PORT": "6"]).settings
        #expect(settings.mqtt.host == "a" && settings.mqtt.port == 6)
    }

    @Test func anEmptyVariableIsNone() throws {
        #expect(try parse("mqtt: {host: a}", ["FTW_MQTT_HOST": ""]).settings.mqtt.host == "a")
    }

    @Test func aVariableReplacesItsRivalInTheFile() throws {
        let byFile = try parse(
            "mqtt: {user: u, password: x}", ["FTW_MQTT_PASSWORD_FILE": "/pw/good"]
        ).settings.mqtt
        #expect(byFile.password == Secret(Array("s3cret-word".utf8)))
        let byText = try parse(
            "mqtt: {user: u, password_file: /pw/none}", ["FTW_MQTT_PASSWORD": "y"]
        ).settings.mqtt
        #expect(byText.password == Secret(Array("y".utf8)) && byText.passwordFile == nil)
        let rule = try parse("prices: {cheap_now: {level: 2}}", ["FTW_MQTT_PRICES_CHEAP_NOW_WINDOW": "2"])
        #expect(rule.settings.prices.cheapNow == .window(hours: 2))
    }

    @Test func aRelativePathStartsAtTheFolderOfTheFile() throws {
        let loaded = try parse("mqtt: {user: u, password_file: relative}", name: "/etc/x/config.yaml")
        #expect(loaded.settings.mqtt.passwordFile == "/etc/x/relative")
    }

    @Test(arguments: [
        (
            ["FTW_MQTT_PORT": "70000"],
            ["FTW_MQTT_PORT: mqtt.port is 70000; a port is a number from 1 to 65535"]
        ),
        (
            ["FTW_MQTT_PASWORD": "longsecret"],
            ["FTW_MQTT_PASWORD: FTW_MQTT_PASWORD is not known; did you mean FTW_MQTT_PASSWORD?"]
        ),
        (
            ["FTW_MQTT_HOST": "a", "FTW_MQTT_MQTT_HOST": "b"],
            ["FTW_MQTT_MQTT_HOST: FTW_MQTT_HOST sets mqtt.host too, to something else"]
        ),
        (
            ["FTW_MQTT_USER": "u", "FTW_MQTT_PASSWORD": "longsecret", "FTW_MQTT_PASSWORD_FILE": "/pw/good"],
            [
                "FTW_MQTT_PASSWORD_FILE: mqtt.password and mqtt.password_file are set together; give one of them"
            ]
        ),
        (
            ["FTW_MQTT_TLS": "no", "FTW_MQTT_TLS_CA_FILE": "/pem/ca"],
            ["FTW_MQTT_TLS_CA_FILE: mqtt.tls.ca_file is set but mqtt.tls is false; TLS is off then"]
        ),
        (
            ["FTW_MQTT_PRICES_CHEAP_HOURS": "2,,3"],
            [
                "FTW_MQTT_PRICES_CHEAP_HOURS: prices.cheap_hours contains empty; "
                    + "give up to 6 different whole hours from 1 to 12, such as [2, 3, 4]"
            ]
        ),
        (
            ["FTW_MQTT_COMMANDS_ALLOW": "level,moode"],
            [
                "FTW_MQTT_COMMANDS_ALLOW: commands.allow contains moode; allowed are level, control, goal, "
                    + "surplus_only, boost and mode; did you mean mode?"
            ]
        ),
        (
            ["FTW_MQTT_PASSWORD": "longsecret"],
            ["FTW_MQTT_PASSWORD: mqtt.password is set but mqtt.user is not; a password goes with a user name"]
        ),
    ])
    func aWrongVariableIsNamed(environment: [String: String], texts: [String]) {
        #expect(faults("", environment) == texts)
    }

    @Test func theSameValueTwiceIsFine() throws {
        let settings = try parse("", ["FTW_MQTT_HOST": "a", "FTW_MQTT_MQTT_HOST": "a"]).settings
        #expect(settings.mqtt.host == "a")
    }

    @Test func aStrangeVariableIsOnlyWarnedAbout() throws {
        let loaded = try parse("", ["FTW_MQTT_SERVICE_BUILD_NUMBER": "12"])
        #expect(
            loaded.warnings.map(\.description) == [
                "FTW_MQTT_SERVICE_BUILD_NUMBER: this variable is not known and has no effect"
            ])
    }
}
