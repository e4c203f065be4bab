import Testing

@testable import Configuration

/// A wrong configuration and what a person is told, without the file's name.
struct Fault: CustomTestStringConvertible {
    var yaml: String
    var texts: [String]

    init(_ yaml: String, _ texts: String...) {
        self.yaml = yaml
        self.texts = texts
    }

    var testDescription: String { yaml }

    func check() {
        let found = faults(yaml)
        #expect(found == texts.map { "config.yaml:" + $0 })
        for text in found { #expect(!text.contains("longsecret")) }
    }
}

@Suite struct WrongKeysTests {
    @Test(arguments: WrongKeysTests.theFileAsAWhole)
    func whatIsNotReadableIsNamedWithItsPlace(fault: Fault) { fault.check() }

    @Test(arguments: WrongKeysTests.unknownKeys)
    func anUnknownKeyNamesTheOneThatWasMeant(fault: Fault) { fault.check() }

    @Test(arguments: WrongKeysTests.severalAtOnce)
    func everyFaultIsToldAtOnce(fault: Fault) { fault.check() }

    static let theFileAsAWhole: [Fault] = [
        Fault("just text", "1:1: the file does not hold keys and values, such as language: en"),
        Fault("- a\n- b", "1:1: the file does not hold keys and values, such as language: en"),
        Fault("a: 1\nb: [", "3:1: did not find expected node content (while parsing a flow node)"),
        Fault("a: &x 1", "1:4: anchors (&name) are not supported; write the value out"),
        Fault("a: *x", "1:4: aliases (*name) are not supported; write the value out"),
        Fault("a: !!str 1", "1:4: tags (!name) are not supported; a text goes in quotes"),
        Fault("a: ! 1", "1:4: tags (!name) are not supported; a text goes in quotes"),
        Fault("--- {}\n--- {}", "2:1: a second document starts here; the file holds one"),
        Fault("mqtt:\n\thost: x", "2:1: a tab stands here; YAML is indented with spaces"),
        Fault("mqtt:\n  password: @abc", "2:13: a value cannot start with @; put it in single quotes"),
        Fault("mqtt:\n  password: %abc", "2:13: a value cannot start with %; put it in single quotes"),
        Fault(
            "mqtt:\n  password: p: x",
            "2:14: a colon stands where none may; put a text with ': ' in single quotes, and check the indentation"
        ),
        Fault("mqtt:\n  host: x\n user: y", "3:2: did not find expected key (while parsing a block mapping)"),
        Fault("? [a]\n: b", "1:3: a key must be a plain word"),
        Fault(
            "a: {b: {c: {d: {e: {f: {g: {h: {i: {j: {k: {l: {m: {n: {o: {p: {q: 1}}}}}}}}}}}}}}}}",
            "1:61: nested deeper than 16 levels"),
        Fault(
            "mqtt:\n  password: 'abc", "2:17: found unexpected end of stream (while scanning a quoted scalar)"
        ),
        Fault("language: en\nlanguage: sv", "2:1: language is there twice; the first is in line 1"),
        Fault("mqtt:\n  host: a\n  host: b", "3:3: mqtt.host is there twice; the first is in line 2"),
    ]

    static let unknownKeys: [Fault] = [
        Fault("langauge: sv", "1:1: langauge is not a setting; did you mean language?"),
        Fault("port: 1883", "1:1: port is not a setting; did you mean mqtt.port?"),
        Fault("mqtt.port: 1883", "1:1: mqtt.port is not a key of its own; write port: indented below mqtt:"),
        Fault("mqtt:\n  prot: 1883", "2:3: mqtt.prot is not a setting; did you mean mqtt.port?"),
        Fault("mqtt:\n  Host: x", "2:3: mqtt.Host is not a setting; did you mean mqtt.host?"),
        Fault("mqtt:\n  username: x", "2:3: mqtt.username is not a setting; did you mean mqtt.user?"),
        Fault("mqtt:\n  clientid: x", "2:3: mqtt.clientid is not a setting; did you mean mqtt.client_id?"),
        Fault("mqtt:\n  level: info", "2:3: mqtt.level is not a setting; did you mean log.level?"),
        Fault(
            "mqtt:\n  zzzzzz: 1",
            "2:3: mqtt.zzzzzz is not a setting; known under mqtt are host, port, user, password, password_file, client_id, base_topic, keep_alive_s, protocol, rate, values, discovery, discovery_prefix and tls"
        ),
        Fault(
            "zzzzzz: 1",
            "1:1: zzzzzz is not a setting; known are language, state_dir, read_only, log, mqtt, relay, sites, commands, car, prices, energy and voice"
        ),
        Fault("broker: x", "1:1: broker is not a setting; did you mean mqtt.host?"),
        Fault("mqtt:\n  ssl: true", "2:3: mqtt.ssl is not a setting; did you mean mqtt.tls?"),
        Fault(
            "mqtt:\n  tls:\n    ca: /pem/ca",
            "3:5: mqtt.tls.ca is not a setting; did you mean mqtt.tls.ca_file?"),
        Fault(
            "sites:\n  - id: home\n    timezone: Europe/Stockholm",
            "3:5: sites.timezone is not a setting; did you mean sites.zone?"),
        Fault(
            "sites:\n  - id: home\n    host: x", "3:5: sites.host is not a setting; did you mean mqtt.host?"),
        Fault("relay:\n  cafile: /pem/ca", "2:3: relay.cafile is not a setting; did you mean relay.ca_file?"),
        Fault("commands:\n  alow: []", "2:3: commands.alow is not a setting; did you mean commands.allow?"),
        Fault(
            "prices:\n  cheap-hours: [2]",
            "2:3: prices.cheap-hours is not a setting; did you mean prices.cheap_hours?"),
        Fault(
            "prices:\n  cheap_now:\n    below: 1",
            "3:5: prices.cheap_now.below is not a setting; did you mean prices.cheap_now.under?"),
        Fault("log:\n  levle: info", "2:3: log.levle is not a setting; did you mean log.level?"),
        Fault(
            "\"\": 1",
            "1:1: an empty name is not a setting; known are language, state_dir, read_only, log, mqtt, relay, sites, commands, car, prices, energy and voice"
        ),
        Fault(
            "\"a\\u202eb\": 1",
            "1:1: a\u{FFFD}b is not a setting; known are language, state_dir, read_only, log, mqtt, relay, sites, commands, car, prices, energy and voice"
        ),
        Fault(
            "<<: {language: en}",
            "1:1: << is not a setting; known are language, state_dir, read_only, log, mqtt, relay, sites, commands, car, prices, energy and voice"
        ),
    ]

    static let severalAtOnce: [Fault] = [
        Fault(
            "langauge: sv\nmqtt:\n  port: 70000\n  tls:\n    key_file: /pem/open\nsites:\n  - id: A\n",
            "1:1: langauge is not a setting; did you mean language?",
            "3:9: mqtt.port is 70000; a port is a number from 1 to 65535",
            "5:15: mqtt.tls.key_file needs mqtt.tls.certificate_file beside it",
            "5:15: mqtt.tls.key_file: /pem/open is open to others (mode 644); run: chmod 600 /pem/open",
            "7:9: sites.id is A; an id is 1 to 32 of a-z, 0-9 and -, without - at either end, such as home")
    ]
}
