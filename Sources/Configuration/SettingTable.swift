import TextForms

extension SettingKey {
    /// Every key there is, in the order of the documented example.
    public static let all: [SettingKey] = SettingTable.fields.flatMap { field in
        field.key.path == "sites" ? [field.key] + SettingTable.siteFields.map(\.key) : [field.key]
    }
}

/// The one table of all keys. The order is that of the example file.
enum SettingTable {
    static let fields: [Field<Settings>] = top + mqtt + tls + relay + sites + commands + rest

    private static func key(
        _ path: String, _ reload: SettingKey.Reload = .restart, default defaultText: String? = nil,
        sample: String = "", synonyms: [String] = [], allowed: String, _ about: String
    ) -> SettingKey {
        SettingKey(
            path: path, about: about, allowed: allowed, defaultText: defaultText, sample: sample,
            reload: reload, synonyms: synonyms)
    }

    private static let trueOrFalse = "allowed are true and false"

    private static let top: [Field<Settings>] = [
        .choice(
            key(
                "language", default: "en", synonyms: ["lang", "locale"],
                allowed: Values.allowed(Settings.Language.self),
                "Language of entity names and sentences: en or sv. Ids and topics stay the same."),
            \.language),
        .text(
            key(
                "state_dir", default: "/var/lib/ftw-mqtt", synonyms: ["data_dir", "state"],
                allowed: "give an absolute path, such as /var/lib/ftw-mqtt",
                "Folder for keys, pairings and memory. It belongs to the user the bridge runs as and nobody else "
                    + "may enter it (mode 0700). Made when it is missing."),
            \.stateDir, Checks.absolutePath),
        .flag(
            key(
                "read_only", .live, default: "false", synonyms: ["readonly"], allowed: trueOrFalse,
                "True: show everything, refuse every command."),
            \.readOnly),
        .choice(
            key(
                "log.level", .live, default: "info", synonyms: ["log_level", "loglevel", "verbosity"],
                allowed: Values.allowed(Settings.LogSettings.Level.self),
                "How much is logged: error, warning, notice, info or debug. One line per change; secrets at no "
                    + "level."),
            \.log.level),
    ]

    private static let mqtt: [Field<Settings>] = [
        .text(
            key(
                "mqtt.host", default: "localhost", synonyms: ["broker", "server", "address", "hostname"],
                allowed: "give a host name or an IP address", "Name or address of the MQTT broker."),
            \.mqtt.host, Checks.host),
        .value(
            key(
                "mqtt.port", sample: "1883", allowed: "a port is a number from 1 to 65535",
                "Port of the broker. When left out: 8883 with TLS, 1883 without."),
            \.mqtt.portWritten
        ) { raw throws(Refusal) in try Values.whole(Field<Settings>.text(of: raw), 1...65_535) },
        .optionalText(
            key(
                "mqtt.user", sample: "ftw", synonyms: ["username", "login"],
                allowed: "a user name is 1 to 256 bytes of text", "User name at the broker."),
            \.mqtt.user, Checks.shortText(256)),
        password,
        .optionalText(
            key(
                "mqtt.password_file", sample: "/etc/ftw-mqtt/mqtt-password",
                allowed: "give the path of a file",
                "File that holds the password, instead of password. Its bytes are taken as they are, except one "
                    + "line end at the end. Others may not read it (chmod 640 or 600). A relative path starts at "
                    + "the folder of this file."),
            \.mqtt.passwordFile, Checks.path),
        .optionalText(
            key(
                "mqtt.client_id", sample: "ftw-mqtt-home", synonyms: ["clientid", "id"],
                allowed: "a client id is 1 to 64 bytes of text",
                "Name of the connection at the broker; no two connections may have the same. When left out it is "
                    + "made from base_topic and the site's id: ftw-mqtt-ftw-home. With several sites, each has a "
                    + "connection of its own, and the site's id is added to what stands here."),
            \.mqtt.clientID, Checks.shortText(64)),
        .text(
            key(
                "mqtt.base_topic", default: "ftw",
                synonyms: ["topic", "prefix", "topic_prefix", "root_topic"],
                allowed: "give 1 to 100 bytes of text",
                "First level of all topics. No + or #, no / at the ends, no $ at the start."),
            \.mqtt.baseTopic, Checks.topic),
        .whole(
            key(
                "mqtt.keep_alive_s", default: "30", synonyms: ["keepalive", "keep_alive"],
                allowed: "give seconds from 5 to 1200",
                "Seconds between signs of life to the broker, 5 to 1200."),
            \.mqtt.keepAliveSeconds, 5...1_200),
        .choice(
            key(
                "mqtt.protocol", default: "auto", synonyms: ["version", "protocol_version", "mqtt_version"],
                allowed: Values.allowed(Settings.MQTT.Version.self),
                "Version of MQTT: 5, 3.1.1, or auto (5, and 3.1.1 when the broker refuses that)."),
            \.mqtt.version),
        .choice(
            key(
                "mqtt.rate", default: "normal", allowed: Values.allowed(Settings.MQTT.Rate.self),
                "How often moving values are published: calm, normal or fast."),
            \.mqtt.rate),
        .flag(
            key(
                "mqtt.values", default: "false", allowed: trueOrFalse,
                "True: mirror each number, text and yes or no of a document to a topic of its own, for displays and "
                    + "simple clients."),
            \.mqtt.values),
        .flag(
            key(
                "mqtt.discovery", default: "true", synonyms: ["homeassistant"], allowed: trueOrFalse,
                "Announce devices and entities to Home Assistant."),
            \.mqtt.discovery),
        .text(
            key(
                "mqtt.discovery_prefix", default: "homeassistant", allowed: "give 1 to 100 bytes of text",
                "Where Home Assistant looks for announcements. Change it only if it was changed there."),
            \.mqtt.discoveryPrefix, Checks.topic),
    ]

    private static let password: Field<Settings> = {
        var key = SettingTable.key(
            "mqtt.password", sample: "'secret'", synonyms: ["pass", "passwd", "pw"],
            allowed: "give 1 to 65535 bytes of text",
            "Password at the broker. Best in single quotes, where only ' itself is special and written twice. "
                + "Better still: password_file.")
        key.isSecret = true
        return .value(key, \.mqtt.password) { raw throws(Refusal) in
            switch raw {
            case .text(let text, _, _) where (1...65_535).contains(text.utf8.count):
                return Secret(Array(text.utf8))
            case .nothing:
                throw Refusal(reason: "a password that starts with # goes in single quotes")
            default:
                throw Refusal()
            }
        }
    }()

    private static let tls: [Field<Settings>] = [
        .flag(
            key(
                "mqtt.tls", sample: "true", synonyms: ["ssl", "use_tls", "secure"],
                allowed: "give true, false or a section with ca_file, certificate_file and key_file",
                "Encrypts the connection to the broker: true, or a section with the files below. The certificate "
                    + "must be valid for the name in host."),
            \.mqtt.usesTLS),
        .optionalText(
            key(
                "mqtt.tls.ca_file", sample: "/etc/ftw-mqtt/ca.pem", synonyms: ["ca", "cafile", "ca_cert"],
                allowed: "give the path of a PEM file",
                "Authorities that may sign the broker's certificate. When left out: the system's."),
            \.mqtt.tlsFiles.caFile, Checks.path),
        .optionalText(
            key(
                "mqtt.tls.certificate_file", sample: "/etc/ftw-mqtt/client.pem",
                synonyms: ["cert", "certfile", "client_cert", "cert_file"],
                allowed: "give the path of a PEM file",
                "Our own certificate, for brokers that ask for one. Goes with key_file."),
            \.mqtt.tlsFiles.certificateFile, Checks.path),
        .optionalText(
            key(
                "mqtt.tls.key_file", sample: "/etc/ftw-mqtt/client.key",
                synonyms: ["key", "keyfile", "client_key"],
                allowed: "give the path of a PEM file",
                "The key of our certificate. Others may not read it (chmod 640 or 600)."),
            \.mqtt.tlsFiles.keyFile, Checks.path),
    ]

    private static let relay: [Field<Settings>] = [
        .text(
            key(
                "relay.url", default: "wss://relay.ftw.energy", synonyms: ["host", "server", "address"],
                allowed: "give wss://host or wss://host:port",
                "Where the box and its apps meet. What passes there is encrypted end to end."),
            \.relay.url, Checks.relayURL),
        .optionalText(
            key(
                "relay.ca_file", sample: "/etc/ftw-mqtt/relay-ca.pem", synonyms: ["ca", "cafile"],
                allowed: "give the path of a PEM file",
                "Authorities that may sign the relay's certificate. When left out: the system's."),
            \.relay.caFile, Checks.path),
        .flag(
            key(
                "relay.allow_plain", default: "false", synonyms: ["insecure"], allowed: trueOrFalse,
                "Permit ws:// (without TLS) to another machine; for trying things out."),
            \.relay.allowPlain),
    ]

    /// The list itself is read item by item with ``siteFields``.
    private static let sites: [Field<Settings>] = [
        .value(
            key(
                "sites", allowed: "give a list with one item per house, each with an id",
                "The houses, one per paired box. Without this list there is one, home. ftw-mqtt pair "
                    + "connects a box to one of them, ftw-mqtt unpair forgets it."),
            \.sites
        ) { _ throws(Refusal) in throw Refusal() }
    ]

    static let siteFields: [Field<Settings.Site>] = [
        .text(
            key(
                "sites.id", default: "home", allowed: "an id is \(SiteID.rule), such as home",
                "Topic level of the house: \(SiteID.rule)."),
            \.id, Checks.siteID),
        .text(
            key(
                "sites.name", default: "Home", synonyms: ["label", "title"],
                allowed: "a name is 1 to 64 bytes of text", "What people call it."),
            \.name, Checks.shortText(64)),
        .optionalText(
            key(
                "sites.zone", sample: "Europe/Stockholm", synonyms: ["timezone", "time_zone", "tz"],
                allowed: "give a time zone by its name, such as Europe/Stockholm",
                "Time zone of the household, for a box that does not name a real one; one that a box names always wins. "
                    + "When left out: this machine's."),
            \.zone, Checks.zone),
        .flag(
            key(
                "sites.read_only", .live, default: "false", synonyms: ["readonly"], allowed: trueOrFalse,
                "True: refuse every command for this house."),
            \.readOnly),
    ]

    private static let commands: [Field<Settings>] = [
        .value(
            key(
                "commands.allow", .live, default: "[level, control, goal, surplus_only, boost, mode]",
                allowed: Values.allowed(Settings.CommandName.self) + ", or [] for none",
                "Which commands are carried out; [] for none."),
            \.commands.allow
        ) { raw throws(Refusal) in try Values.choices(raw) },
        .flag(
            key(
                "commands.goal_consent", .live, default: "false", synonyms: ["consent"], allowed: trueOrFalse,
                "Some boxes ask for a second confirmation before a goal is changed from afar. True gives it once "
                    + "and for all."),
            \.commands.goalConsent),
    ]

    private static let rest: [Field<Settings>] = [
        .value(
            key(
                "car.read_interval", .live, default: "60s", synonyms: ["interval", "poll_interval"],
                allowed: "give a time from 15 s to 10 min, such as 60s or 5min",
                "How often the chargers are asked whether a cable went in, 15s to 10min."),
            \.car.readInterval
        ) { raw throws(Refusal) in try Values.duration(Field<Settings>.text(of: raw), 15...600) },
        .value(
            key(
                "prices.cheap_hours", .live, default: "[2, 3, 4]",
                allowed: "give up to 6 different whole hours from 1 to 12, such as [2, 3, 4]",
                "Lengths of the cheapest stretches to look for in the next 24 hours, in whole hours from 1 to 12, "
                    + "six at most."),
            \.prices.cheapHours
        ) { raw throws(Refusal) in try Values.wholes(raw, 1...12, most: 6) },
        .optionalWhole(
            key(
                "prices.cheap_now.level", .live, default: "3",
                allowed: "a price level is a number from 1 to 8",
                "It is cheap now when the price level, 1 (cheapest) to 8, is this or lower. One of level, under "
                    + "and window."),
            \.prices.cheapLevel, 1...8),
        .value(
            key(
                "prices.cheap_now.under", .live, sample: "0.50", synonyms: ["below", "price"],
                allowed: "give a price per kWh in the currency's main unit, such as 0.50",
                "Or when the total price per kWh, in kronor or euros, is below this."),
            \.prices.cheapUnder
        ) { raw throws(Refusal) in try Values.decimal(Field<Settings>.text(of: raw), -1_000...1_000) },
        .optionalWhole(
            key(
                "prices.cheap_now.window", .live, sample: "3", synonyms: ["hours"],
                allowed: "give one of the numbers in prices.cheap_hours",
                "Or inside the cheapest stretch of so many hours of the next 24, one of cheap_hours."),
            \.prices.cheapWindow, 1...12),
        .choice(
            key(
                "energy.start", default: "zero", allowed: Values.allowed(Settings.Energy.Start.self),
                "Where energy totals begin: zero, or backfill with what the box still knows."),
            \.energy.start),
        .flag(
            key(
                "voice.hermes", default: "false", allowed: trueOrFalse,
                "Answer voice assistants that speak the Hermes protocol (hermes/intent/#)."),
            \.voice.hermes),
        .text(
            key(
                "voice.prefix", default: "Ftw", synonyms: ["intent_prefix", "intents"],
                allowed: "give 1 to 32 letters, digits, - or _",
                "What the names of our intents begin with, as in FtwCarLevel; other skills use the same broker."
            ),
            \.voice.prefix, Checks.intentPrefix),
    ]
}
