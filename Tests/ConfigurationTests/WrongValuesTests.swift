import Testing

@testable import Configuration

@Suite struct WrongValuesTests {
    @Test(arguments: WrongValuesTests.types + WrongValuesTests.ranges)
    func aValueOfTheWrongKindOrSizeIsToldWhatIsAllowed(fault: Fault) { fault.check() }

    @Test(arguments: WrongValuesTests.texts)
    func aTextThatCannotBeUsedIsToldWhy(fault: Fault) { fault.check() }

    @Test(arguments: WrongValuesTests.sites + WrongValuesTests.commands)
    func listsNameTheItemThatIsWrong(fault: Fault) { fault.check() }

    @Test(arguments: WrongValuesTests.pairsAndFiles)
    func keysThatDoNotGoTogetherAndFilesThatCannotBeUsedAreTold(fault: Fault) { fault.check() }

    static let types: [Fault] = [
        Fault("language: [en]", "1:11: language is a list; allowed are en and sv"),
        Fault("language: {a: b}", "1:11: language is a section; allowed are en and sv"),
        Fault("language:", "1:10: language has no value; allowed are en and sv"),
        Fault("language: english", "1:11: language is english; allowed are en and sv; did you mean en?"),
        Fault("language: EN", "1:11: language is EN; allowed are en and sv; did you mean en?"),
        Fault("log: info", "1:6: log is a section; its keys stand below it, indented: level"),
        Fault(
            "log:\n  level: warn",
            "2:10: log.level is warn; allowed are error, warning, notice, info and debug; did you mean warning?"
        ),
        Fault(
            "mqtt: localhost",
            "1:7: mqtt is a section; its keys stand below it, indented: host, port, user, password, password_file, client_id, base_topic, keep_alive_s, protocol, rate, values, discovery, discovery_prefix and tls"
        ),
        Fault(
            "mqtt: [a]",
            "1:7: mqtt is a section; its keys stand below it, indented: host, port, user, password, password_file, client_id, base_topic, keep_alive_s, protocol, rate, values, discovery, discovery_prefix and tls"
        ),
        Fault("read_only: maybe", "1:12: read_only is maybe; allowed are true and false"),
        Fault("read_only:", "1:11: read_only has no value; allowed are true and false"),
        Fault("mqtt:\n  values: 1", "2:11: mqtt.values is 1; allowed are true and false"),
        Fault("mqtt:\n  discovery: [true]", "2:14: mqtt.discovery is a list; allowed are true and false"),
    ]

    static let ranges: [Fault] = [
        Fault("mqtt:\n  port: 70000", "2:9: mqtt.port is 70000; a port is a number from 1 to 65535"),
        Fault("mqtt:\n  port: 0", "2:9: mqtt.port is 0; a port is a number from 1 to 65535"),
        Fault("mqtt:\n  port: -1", "2:9: mqtt.port is -1; a port is a number from 1 to 65535"),
        Fault("mqtt:\n  port: 1883.0", "2:9: mqtt.port is 1883.0; a port is a number from 1 to 65535"),
        Fault("mqtt:\n  port: 0x1F", "2:9: mqtt.port is 0x1F; a port is a number from 1 to 65535"),
        Fault(
            "mqtt:\n  port: 99999999999999999999999999",
            "2:9: mqtt.port is 99999999999999999999999999; a port is a number from 1 to 65535"),
        Fault(
            "mqtt:\n  port: '\u{FF11}\u{FF18}\u{FF18}\u{FF13}'",
            "2:9: mqtt.port is \u{FF11}\u{FF18}\u{FF18}\u{FF13}; a port is a number from 1 to 65535"),
        Fault("mqtt:\n  port:", "2:8: mqtt.port has no value; a port is a number from 1 to 65535"),
        Fault("mqtt:\n  port: [1883]", "2:9: mqtt.port is a list; a port is a number from 1 to 65535"),
        Fault("mqtt:\n  keep_alive_s: 0", "2:17: mqtt.keep_alive_s is 0; give seconds from 5 to 1200"),
        Fault("mqtt:\n  keep_alive_s: 1201", "2:17: mqtt.keep_alive_s is 1201; give seconds from 5 to 1200"),
        Fault("mqtt:\n  keep_alive_s: 30s", "2:17: mqtt.keep_alive_s is 30s; give seconds from 5 to 1200"),
        Fault("mqtt:\n  protocol: 4", "2:13: mqtt.protocol is 4; allowed are auto, 5 and 3.1.1"),
        Fault(
            "mqtt:\n  protocol: 3.1",
            "2:13: mqtt.protocol is 3.1; allowed are auto, 5 and 3.1.1; did you mean 3.1.1?"),
        Fault("mqtt:\n  rate: quick", "2:9: mqtt.rate is quick; allowed are calm, normal and fast"),
        Fault(
            "car:\n  read_interval: 14",
            "2:18: car.read_interval is 14; give a time from 15 s to 10 min, such as 60s or 5min"),
        Fault(
            "car:\n  read_interval: 11min",
            "2:18: car.read_interval is 11min; give a time from 15 s to 10 min, such as 60s or 5min"),
        Fault(
            "car:\n  read_interval: 5 parsec",
            "2:18: car.read_interval is 5 parsec; give a time from 15 s to 10 min, such as 60s or 5min"),
        Fault(
            "car:\n  read_interval: 9999999999999999h",
            "2:18: car.read_interval is 9999999999999999h; give a time from 15 s to 10 min, such as 60s or 5min"
        ),
        Fault(
            "car:\n  read_interval: min",
            "2:18: car.read_interval is min; give a time from 15 s to 10 min, such as 60s or 5min"),
        Fault(
            "car:\n  read_interval: -60",
            "2:18: car.read_interval is -60; give a time from 15 s to 10 min, such as 60s or 5min"),
        Fault(
            "prices:\n  cheap_hours: [0]",
            "2:16: prices.cheap_hours contains 0; give up to 6 different whole hours from 1 to 12, such as [2, 3, 4]"
        ),
        Fault(
            "prices:\n  cheap_hours: []",
            "2:16: prices.cheap_hours is empty; give up to 6 different whole hours from 1 to 12, such as [2, 3, 4]"
        ),
        Fault(
            "prices:\n  cheap_hours: [2, 2]",
            "2:16: prices.cheap_hours contains 2 twice; give up to 6 different whole hours from 1 to 12, such as [2, 3, 4]"
        ),
        Fault(
            "prices:\n  cheap_hours: [1, 2, 3, 4, 5, 6, 7]",
            "2:16: prices.cheap_hours has 7 numbers; give up to 6 different whole hours from 1 to 12, such as [2, 3, 4]"
        ),
        Fault(
            "prices:\n  cheap_hours: [2, x]",
            "2:16: prices.cheap_hours contains x; give up to 6 different whole hours from 1 to 12, such as [2, 3, 4]"
        ),
        Fault(
            "prices:\n  cheap_hours: [[2]]",
            "2:16: prices.cheap_hours is a list with lists or sections in it; give up to 6 different whole hours from 1 to 12, such as [2, 3, 4]"
        ),
        Fault(
            "prices:\n  cheap_now:\n    level: 9",
            "3:12: prices.cheap_now.level is 9; a price level is a number from 1 to 8"),
        Fault(
            "prices:\n  cheap_now:\n    under: 0,50",
            "3:12: prices.cheap_now.under is 0,50; write the decimals after a point, such as 0.50"),
        Fault(
            "prices:\n  cheap_now:\n    under: cheap",
            "3:12: prices.cheap_now.under is cheap; give a price per kWh in the currency's main unit, such as 0.50"
        ),
        Fault(
            "prices:\n  cheap_now:\n    under: 1e9",
            "3:12: prices.cheap_now.under is 1e9; give a price per kWh in the currency's main unit, such as 0.50"
        ),
        Fault(
            "prices:\n  cheap_now:\n    window: 5",
            "3:13: prices.cheap_now.window is 5, which is not in prices.cheap_hours; allowed are 2, 3 and 4"),
        Fault(
            "prices:\n  cheap_now:\n    window: 13",
            "3:13: prices.cheap_now.window is 13; give one of the numbers in prices.cheap_hours"),
        Fault(
            "prices:\n  cheap_now: 3",
            "2:14: prices.cheap_now is a section; its keys stand below it, indented: level, under and window"),
        Fault("energy:\n  start: now", "2:10: energy.start is now; allowed are zero and backfill"),
        Fault("voice:\n  hermes: ja", "2:11: voice.hermes is ja; allowed are true and false"),
        Fault(
            "voice:\n  prefix: 'a/b'", "2:11: voice.prefix is a/b; give 1 to 32 letters, digits, - or _"),
        Fault("voice:\n  prefix: ''", "2:11: voice.prefix is empty; give 1 to 32 letters, digits, - or _"),
    ]

    static let texts: [Fault] = [
        Fault(
            "mqtt:\n  host: mqtt://broker",
            "2:9: mqtt.host is mqtt://broker; give the host alone, without mqtt:// (TLS is switched on with mqtt.tls)"
        ),
        Fault(
            "mqtt:\n  host: broker:1883",
            "2:9: mqtt.host is broker:1883; give the host alone; the port goes into mqtt.port"),
        Fault("mqtt:\n  host: '[::1]'", "2:9: mqtt.host is [::1]; write an IPv6 address without brackets"),
        Fault("mqtt:\n  host: broker/x", "2:9: mqtt.host is broker/x; give the host alone, without a path"),
        Fault("mqtt:\n  host: 'my broker'", "2:9: mqtt.host is my broker; give a host name or an IP address"),
        Fault("mqtt:\n  host: ''", "2:9: mqtt.host is empty; give a host name or an IP address"),
        Fault(
            "mqtt:\n  host: me:pw@broker",
            "2:9: mqtt.host is a text that is not shown here; give the host alone; the port goes into mqtt.port"
        ),
        Fault("mqtt:\n  host: -a", "2:9: mqtt.host is -a; give a host name or an IP address"),
        Fault("mqtt:\n  host: a..b", "2:9: mqtt.host is a..b; give a host name or an IP address"),
        Fault(
            "mqtt:\n  base_topic: ftw/#",
            "2:15: mqtt.base_topic is ftw/#; the wildcards # and + are not allowed in it"),
        Fault(
            "mqtt:\n  base_topic: /ftw", "2:15: mqtt.base_topic is /ftw; it neither starts nor ends with /"),
        Fault(
            "mqtt:\n  base_topic: ftw/", "2:15: mqtt.base_topic is ftw/; it neither starts nor ends with /"),
        Fault(
            "mqtt:\n  base_topic: $SYS",
            "2:15: mqtt.base_topic is $SYS; topics that start with $ belong to the broker"),
        Fault("mqtt:\n  base_topic: a//b", "2:15: mqtt.base_topic is a//b; it has an empty level"),
        Fault("mqtt:\n  base_topic: ''", "2:15: mqtt.base_topic is empty; give 1 to 100 bytes of text"),
        Fault(
            "mqtt:\n  base_topic: homeassistant",
            "2:15: mqtt.base_topic and mqtt.discovery_prefix are the same; Home Assistant would read our own topics"
        ),
        Fault(
            "mqtt:\n  discovery_prefix: a+b",
            "2:21: mqtt.discovery_prefix is a+b; the wildcards # and + are not allowed in it"),
        Fault(
            "mqtt:\n  client_id: ''", "2:14: mqtt.client_id is empty; a client id is 1 to 64 bytes of text"),
        Fault(
            "mqtt:\n  client_id: " + String(repeating: "x", count: 65),
            "2:14: mqtt.client_id is a text that is not shown here; a client id is 1 to 64 bytes of text"),
        Fault("mqtt:\n  user: ''", "2:9: mqtt.user is empty; a user name is 1 to 256 bytes of text"),
        Fault(
            "state_dir: var/lib",
            "1:12: state_dir is var/lib; give an absolute path, such as /var/lib/ftw-mqtt"),
        Fault("state_dir: /", "1:12: state_dir is /; give an absolute path, such as /var/lib/ftw-mqtt"),
        Fault("state_dir: ''", "1:12: state_dir is empty; give an absolute path, such as /var/lib/ftw-mqtt"),
        Fault(
            "relay:\n  url: https://relay.ftw.energy",
            "2:8: relay.url is https://relay.ftw.energy; the relay is spoken to with wss://, not http"),
        Fault(
            "relay:\n  url: relay.ftw.energy",
            "2:8: relay.url is relay.ftw.energy; give wss://host or wss://host:port"),
        Fault(
            "relay:\n  url: wss://a/path",
            "2:8: relay.url is wss://a/path; give wss://host or wss://host:port"),
        Fault(
            "relay:\n  url: wss://u:p@a",
            "2:8: relay.url is a text that is not shown here; give wss://host or wss://host:port"),
        Fault(
            "relay:\n  url: wss://a:70000",
            "2:8: relay.url is wss://a:70000; give wss://host or wss://host:port"),
        Fault(
            "relay:\n  url: ws://a",
            "2:8: relay.url has no TLS; give wss://, or relay.allow_plain: true if that is what you want"),
        Fault("relay:\n  url: wss://", "2:8: relay.url is wss://; give wss://host or wss://host:port"),
    ]

    static let sites: [Fault] = [
        Fault(
            "sites: home",
            "1:8: sites is not a list of 1 to 1000 items; give a list with one item per house, each with an id"
        ),
        Fault(
            "sites: []",
            "1:8: sites is not a list of 1 to 1000 items; give a list with one item per house, each with an id"
        ),
        Fault("sites: [home]", "1:9: sites holds something without keys; write - id: home"),
        Fault(
            "sites:\n  - name: x",
            "2:5: a site has no id; an id is 1 to 32 of a-z, 0-9 and -, without - at either end, such as home"
        ),
        Fault(
            "sites:\n  - id: Home",
            "2:9: sites.id is Home; an id is 1 to 32 of a-z, 0-9 and -, without - at either end, such as home"
        ),
        Fault(
            "sites:\n  - id: a/b",
            "2:9: sites.id is a/b; an id is 1 to 32 of a-z, 0-9 and -, without - at either end, such as home"),
        Fault(
            "sites:\n  - id: -a",
            "2:9: sites.id is -a; an id is 1 to 32 of a-z, 0-9 and -, without - at either end, such as home"),
        Fault("sites:\n  - id: a\n  - id: a", "3:5: sites.id a is there twice; the first is in line 2"),
        Fault(
            "sites:\n  - id: a\n    zone: Europe/Stokholm",
            "3:11: sites.zone is Europe/Stokholm, which this machine does not know; give a time zone by its name, such as Europe/Stockholm; did you mean Europe/Stockholm?"
        ),
        Fault(
            "sites:\n  - id: a\n    zone: ../../etc/passwd",
            "3:11: sites.zone is a text that is not shown here; give a time zone by its name, such as Europe/Stockholm"
        ),
        Fault(
            "sites:\n  - id: a\n    zone: Mars/Base",
            "3:11: sites.zone is Mars/Base, which this machine does not know; give a time zone by its name, such as Europe/Stockholm"
        ),
        Fault(
            "sites:\n  - id: a\n    name: ''", "3:11: sites.name is empty; a name is 1 to 64 bytes of text"),
        Fault(
            "sites:\n  - id: a\n    read_only: 2", "3:16: sites.read_only is 2; allowed are true and false"),
    ]

    static let commands: [Fault] = [
        Fault(
            "commands:\n  allow: [levels]",
            "2:10: commands.allow contains levels; allowed are level, control, goal, surplus_only, boost and mode; did you mean level?"
        ),
        Fault(
            "commands:\n  allow: everything",
            "2:10: commands.allow contains everything; allowed are level, control, goal, surplus_only, boost and mode, or [] for none"
        ),
        Fault(
            "commands:\n  allow: {a: b}",
            "2:10: commands.allow is a section; allowed are level, control, goal, surplus_only, boost and mode, or [] for none"
        ),
        Fault(
            "commands:\n  allow:",
            "2:9: commands.allow has no value; allowed are level, control, goal, surplus_only, boost and mode, or [] for none"
        ),
        Fault(
            "commands:\n  goal_consent: sure",
            "2:17: commands.goal_consent is sure; allowed are true and false"),
    ]

    static let pairsAndFiles: [Fault] = [
        Fault(
            "mqtt:\n  user: u\n  password: longsecret\n  password_file: /pw/good",
            "4:18: mqtt.password and mqtt.password_file are set together; give one of them"),
        Fault(
            "mqtt:\n  password: longsecret",
            "2:13: mqtt.password is set but mqtt.user is not; a password goes with a user name"),
        Fault(
            "mqtt:\n  password_file: /pw/good",
            "2:18: mqtt.password_file is set but mqtt.user is not; a password goes with a user name"),
        Fault(
            "mqtt:\n  user: u\n  password:",
            "3:12: mqtt.password has no value; a password that starts with # goes in single quotes"),
        Fault(
            "mqtt:\n  user: u\n  password: #abc",
            "3:12: mqtt.password has no value; a password that starts with # goes in single quotes"),
        Fault(
            "mqtt:\n  user: u\n  password: [longsecret]",
            "3:13: mqtt.password is a list; give 1 to 65535 bytes of text"),
        Fault(
            "mqtt:\n  user: u\n  password: {longsecret: x}",
            "3:13: mqtt.password is a section; give 1 to 65535 bytes of text"),
        Fault(
            "mqtt:\n  user: u\n  password: ''",
            "3:13: mqtt.password cannot be used; give 1 to 65535 bytes of text"),
        Fault(
            "mqtt:\n  password:longsecret",
            "2:3: mqtt is a section; its keys stand below it, indented: host, port, user, password, password_file, client_id, base_topic, keep_alive_s, protocol, rate, values, discovery, discovery_prefix and tls; a colon needs a space after it"
        ),
        Fault(
            "mqtt:\n  host: localhost\n    password:longsecret",
            "2:9: mqtt.host is a text that is not shown here; give the host alone; the port goes into mqtt.port"
        ),
        Fault(
            "mqtt:\n  user: longsecret\n  password: longsecret\n  longsecret: 1",
            "4:3: mqtt.*** is not a setting; known under mqtt are host, port, user, password, password_file, client_id, base_topic, keep_alive_s, protocol, rate, values, discovery, discovery_prefix and tls"
        ),
        Fault(
            "mqtt:\n  user: u\n  password_file: /pw/none", "3:18: mqtt.password_file: /pw/none does not exist"
        ),
        Fault(
            "mqtt:\n  user: u\n  password_file: longsecret",
            "3:18: mqtt.password_file: the file does not exist"),
        Fault(
            "mqtt:\n  user: u\n  password_file: /pw/open",
            "3:18: mqtt.password_file: /pw/open is open to others (mode 644); run: chmod 600 /pw/open"),
        Fault(
            "mqtt:\n  user: u\n  password_file: /pw/writable",
            "3:18: mqtt.password_file: /pw/writable is open to others (mode 660); run: chmod 600 /pw/writable"
        ),
        Fault("mqtt:\n  user: u\n  password_file: /pw/empty", "3:18: mqtt.password_file: the file is empty"),
        Fault(
            "mqtt:\n  user: u\n  password_file: /pw/long",
            "3:18: mqtt.password_file: the file is longer than a password can be (65535 bytes)"),
        Fault(
            "mqtt:\n  user: u\n  password_file: /pem/folder",
            "3:18: mqtt.password_file: /pem/folder is not a file"),
        Fault(
            "mqtt:\n  user: u\n  password_file: /pem/forbidden",
            "3:18: mqtt.password_file: /pem/forbidden may not be read by the user the bridge runs as; change its owner or group"
        ),
        Fault(
            "mqtt:\n  tls: maybe",
            "2:8: mqtt.tls is maybe; give true, false or a section with ca_file, certificate_file and key_file"
        ),
        Fault(
            "mqtt:\n  tls: [a]",
            "2:8: mqtt.tls is a list; give true, false or a section with ca_file, certificate_file and key_file"
        ),
        Fault("mqtt:\n  tls: {ca_file: /pem/none}", "2:18: mqtt.tls.ca_file: /pem/none does not exist"),
        Fault(
            "mqtt:\n  tls: {ca_file: /pem/text}",
            "2:18: mqtt.tls.ca_file: /pem/text is not a PEM file (it has no -----BEGIN line)"),
        Fault(
            "mqtt:\n  tls: {certificate_file: /pem/cert}",
            "2:27: mqtt.tls.certificate_file needs mqtt.tls.key_file beside it"),
        Fault(
            "mqtt:\n  tls: {key_file: /pem/key}",
            "2:19: mqtt.tls.key_file needs mqtt.tls.certificate_file beside it"),
        Fault(
            "mqtt:\n  tls: {certificate_file: /pem/cert, key_file: /pem/open}",
            "2:48: mqtt.tls.key_file: /pem/open is open to others (mode 644); run: chmod 600 /pem/open"),
        Fault(
            "mqtt:\n  tls: {certificate_file: /pem/cert, key_file: /pem/locked}",
            "2:48: mqtt.tls.key_file: /pem/locked is locked with a passphrase, which a service cannot type; store it without"
        ),
        Fault("relay:\n  ca_file: /pem/folder", "2:12: relay.ca_file: /pem/folder is not a file"),
        Fault(
            "prices:\n  cheap_now:\n    level: 2\n    under: 0.5",
            "4:12: prices.cheap_now.level and prices.cheap_now.under are set together; give one of them"),
    ]
}
