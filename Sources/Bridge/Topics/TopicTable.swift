import EnergyModel
import MQTTTypes

extension TopicTree {
    /// The version of this table, in `bridge/info`. Rises when something that was
    /// released changes its meaning; new topics and members do not raise it.
    public static let version = 1

    /// Every topic below a site, once.
    public static let table: [TopicSpec] = withCommands(
        bridgeTable + boxTable + houseTable + carTable + commandTable + priceTable)

    static let onChange = LocalText("on change", "vid ändring")

    static func state(
        _ name: TopicName, _ form: TopicSpec.Form, _ meaning: LocalText, qos: QoS = .atLeastOnce,
        retained: Bool = true, expiry: UInt32? = nil, expiresWith: String? = nil,
        occasion: LocalText = onChange
    ) -> TopicSpec {
        TopicSpec(
            name: name, direction: .state, form: form, meaning: meaning, occasion: occasion,
            isRetained: retained, qos: qos, expirySeconds: expiry, expiresWith: expiresWith)
    }

    static func request(_ name: TopicName, _ meaning: LocalText) -> TopicSpec {
        TopicSpec(
            name: name, direction: .request, form: .any, meaning: meaning,
            occasion: LocalText("answered on `result`", "besvaras på `result`"), isRetained: false,
            qos: .atLeastOnce, expirySeconds: nil)
    }

    static func member(
        _ name: String, _ kind: TopicSpec.Member.Kind, _ en: String, _ sv: String, dating: Bool = false
    ) -> TopicSpec.Member {
        TopicSpec.Member(name: name, kind: kind, meaning: LocalText(en, sv), isDating: dating)
    }

    static let presence = TopicSpec.Form.plain(["online", "offline"])

    // MARK: The bridge itself

    private static let bridgeTable = [
        state(
            .bridgeAvailability, presence,
            LocalText(
                "Whether this bridge works. Birth and will.",
                "Om bryggan fungerar. Födelsemeddelande och testamente."),
            expiry: 180,
            occasion: LocalText("at once, renewed each 60 s", "genast, förnyas var 60:e s")),
        state(
            .bridgeInfo, .document(infoMembers),
            LocalText("What this bridge is and whom it speaks to.", "Vad bryggan är och vem den talar med.")),
        state(
            .bridgeHealth, .document(healthMembers),
            LocalText("How the bridge fares.", "Hur bryggan mår."), qos: .atMostOnce,
            occasion: LocalText(
                "a new error or loss within a minute, else each 15 min",
                "ett nytt fel eller en förlust inom en minut, annars var 15:e min")),
        state(
            .bridgeInstance, .text,
            LocalText(
                "Which run of the bridge connected last; tells a second copy from a bad network.",
                "Vilken körning av bryggan som anslöt sist; skiljer en andra kopia från ett dåligt nät."),
            occasion: LocalText("on connecting", "vid anslutning")),
        request(.bridgePing, LocalText("Answers that the bridge is there.", "Svarar att bryggan finns.")),
        request(
            .bridgeRepublish,
            LocalText("Publishes discovery and every state again.", "Publicerar allt på nytt.")),
        request(
            .bridgeReload, LocalText("Reads the configuration again.", "Läser in konfigurationen på nytt.")),
        state(
            .result, .document(resultMembers + [repeatedMember]),
            LocalText("Every stage of every request.", "Varje steg i varje begäran."), retained: false,
            occasion: LocalText("each stage", "varje steg")),
    ]

    private static let infoMembers = [
        member("version", .text, "version of the bridge", "bryggans version"),
        member("topics_version", .number(unit: ""), "version of this page", "denna sidas version"),
        member("site", .text, "the site's id in topics", "anläggningens id i ämnen"),
        member("site_name", .text, "the site's name as typed", "anläggningens namn som det skrevs"),
        member("zone", .text, "zone of all times", "tidszon för alla tider"),
        member("language", .token(["en", "sv"]), "language of sentences", "språk för meningar"),
        member("mqtt_version", .token(["5.0", "3.1.1"]), "protocol in use", "protokoll i bruk"),
        member("box_id", .text, "the box's id", "boxens id"),
        member("box_build", .text, "the box's version", "boxens version"),
        member("role", .token(["owner", "viewer"]), "our role on the box", "vår roll på boxen"),
        member("capabilities", .list, "what the box says it can do", "vad boxen säger sig kunna"),
        member("instance", .text, "this run of the bridge; a second copy has another", "denna körning"),
        member("started", .time, "start of this run", "körningens start"),
    ]

    private static let healthMembers = [
        member("since", .time, "start of the counting", "räkningens början"),
        member("memory_bytes", .number(unit: "B"), "resident memory", "minne i bruk", dating: true),
        member("queue_high_water", .number(unit: ""), "most waiting messages", "flest väntande meddelanden"),
        member(
            "broker_reconnects", .number(unit: ""), "connections after the first",
            "anslutningar efter den första"),
        member("box_reconnects", .number(unit: ""), "sessions after the first", "sessioner efter den första"),
        member("frames", .number(unit: ""), "frames from the box", "ramar från boxen", dating: true),
        member("frames_rejected", .number(unit: ""), "unusable messages", "oanvändbara meddelanden"),
        member(
            "publishes", .number(unit: ""), "messages to the broker", "meddelanden till brokern", dating: true
        ),
        member(
            "dropped", .number(unit: ""), "given up unsent: too many waited, or the connection ended",
            "uppgivna osända: för många väntade, eller förbindelsen bröts"),
        member("oversize", .number(unit: ""), "too large for the broker", "för stora för brokern"),
        member(
            "requests", .object, "questions to the box by route", "frågor till boxen per väg", dating: true),
        member("commands", .object, "requests by final stage", "begäranden per slutsteg", dating: true),
        member("refused_filters", .list, "subscriptions the broker refused", "nekade prenumerationer"),
        member("last_error", .object, "`code`, `at`, `sentence`", "`code`, `at`, `sentence`"),
        member("at", .time, "time of this report", "rapportens tid", dating: true),
    ]

    private static let repeatedMember = member(
        "repeated", .flag,
        "may have been told before: the id was sent again, which is answered on its response topic alone if "
            + "it names one, or the bridge or the broker was restarted just after; `id` and `at` are the same",
        "kan ha sagts förut: id:t skickades igen, vilket bara besvaras på dess svarsämne om det anger ett, "
            + "eller bryggan eller brokern startades om strax efter; `id` och `at` är desamma")

    static let resultMembers = [
        member("id", .text, "of the request; made up when it had none", "begärans id"),
        member("from", .text, "who asked, as the request says", "vem som bad, enligt begäran"),
        member("topic", .text, "where the request came in", "var begäran kom in"),
        member(
            "stage", .token(Stage.allCases.map(\.rawValue)), "how far it is", "hur långt den har kommit"),
        member("final", .flag, "nothing follows", "inget mer följer"),
        member("code", .text, "why it was refused", "varför den nekades"),
        member("box_code", .text, "the box's own code", "boxens egen kod"),
        member("text", .text, "a sentence", "en mening"),
        member("requested", .text, "what was asked for", "vad som begärdes"),
        member("value", .text, "what the outcome is", "vad det blev"),
        member("at", .time, "time of this stage", "stegets tid"),
    ]

    // MARK: The box and its sources

    private static let boxTable = [
        state(
            .boxAvailability, presence,
            LocalText("Whether live frames arrive from the box.", "Om det kommer färska data från boxen."),
            occasion: LocalText("at once", "genast")),
        state(
            .boxLink, .document(linkMembers),
            LocalText("How the bridge stands with the box.", "Hur bryggan står med boxen.")),
        state(
            .source, .document(sourceMembers),
            LocalText("One device of the box.", "En av boxens enheter.")),
        state(
            .sourceAvailability, presence,
            LocalText("Whether its readings can be trusted.", "Om dess värden går att lita på."),
            occasion: LocalText(
                "offline at once, online after 10 s of health", "offline genast, online efter 10 s utan fel")),
    ]

    private static let linkMembers = [
        member(
            "state", .token(Link.State.allCases.map(\.rawValue)), "where it stands", "var den står"),
        member("since", .time, "when that began", "när det började"),
        member("reason", .token(Link.Reason.allCases.map(\.rawValue)), "why", "varför"),
        member("boot_percent", .number(unit: "%"), "how far the box's start is", "hur långt starten kommit"),
        member("sentence", .text, "the same for people", "detsamma för människor"),
    ]

    private static let sourceMembers = [
        member("id", .text, "the box's id of it", "boxens id för den"),
        member("name", .text, "as typed on the box", "som det skrevs på boxen"),
        member("state", .token(Source.State.allCases.map(\.rawValue)), "how fresh it is", "hur färsk den är"),
        member("roles", .list, "what it measures", "vad den mäter"),
        member("healthy", .flag, "whether its readings are used", "om dess värden används"),
        member("last_answered", .time, "its last answer", "dess senaste svar", dating: true),
        member("stale_after_s", .number(unit: "s"), "trusted for so long", "gäller så länge"),
        member("at", .time, "time of this report", "rapportens tid", dating: true),
    ]

    // MARK: The house

    private static let houseTable = [
        state(
            .power, .document(powerMembers),
            LocalText(
                "Power flows, each with its own sign: `grid` = `house` + `car` + `battery` + `solar`.",
                "Effektflöden, vart och ett med sitt tecken: `grid` = `house` + `car` + `battery` + `solar`."),
            qos: .atMostOnce, expiry: 90,
            occasion: LocalText(
                "a step of 200 W or 10 % at once, 50 W after 5 s, each 30 s while live",
                "ett steg på 200 W eller 10 % genast, 50 W efter 5 s, var 30:e s när det är färskt")),
        state(
            .battery, .document(batteryMembers),
            LocalText("The home battery.", "Hemmabatteriet."), qos: .atMostOnce, expiry: 3_600,
            occasion: LocalText(
                "on change, each 20 min while live", "vid ändring, var 20:e min när det är färskt")),
        state(
            .control, .document(controlMembers),
            LocalText("Is FTW in control?", "Styr FTW?"),
            occasion: LocalText(
                "worse at once, better after 10 s", "sämre genast, bättre efter 10 s")),
        state(
            .mode, .document(modeMembers),
            LocalText("The site's mode and the box's list of modes.", "Driftläget och boxens lista av lägen.")
        ),
    ]

    private static let powerMembers = [
        member("grid", .number(unit: "W"), "import positive, export negative", "köp positivt, sälj negativt"),
        member(
            "solar", .number(unit: "W"), "production negative, never positive",
            "produktion negativ, aldrig positiv"),
        member(
            "battery", .number(unit: "W"), "charging positive, discharging negative",
            "laddning positiv, urladdning negativ"),
        member(
            "car", .number(unit: "W"), "charging positive, discharging negative",
            "laddning positiv, urladdning negativ"),
        member(
            "house", .number(unit: "W"), "what the house itself uses, positive",
            "vad huset självt använder, positivt"),
        member("at", .time, "when the box sent these", "när boxen sände dem", dating: true),
        member("live", .flag, "false: an old picture", "false: en gammal bild"),
    ]

    private static let batteryMembers = [
        member("level", .number(unit: "%"), "state of charge", "laddningsnivå"),
        member("at", .time, "when the box sent it", "när boxen sände den", dating: true),
        member("live", .flag, "false: an old picture", "false: en gammal bild"),
    ]

    private static let controlMembers = [
        member("in_control", .flag, "`null` when nobody knows", "`null` när ingen vet"),
        member("answer", .token(["yes", "partly", "no", "unknown"]), "the same, finer", "detsamma, finare"),
        member("blocked_by", .list, "ids of what stops the box", "id för det som hindrar boxen"),
        member("quiet", .list, "ids of what is silent", "id för det som är tyst"),
        member("since", .time, "when the answer became that", "när svaret blev så"),
        member("sentence", .text, "the same for people", "detsamma för människor"),
    ]

    private static let modeMembers = [
        member("key", .text, "the box's name of the mode", "boxens namn på läget"),
        member("label", .text, "the same for people", "detsamma för människor"),
        member("catalogue", .list, "all modes: `key`, `label`, `tier`", "alla lägen: `key`, `label`, `tier`"),
        member("live", .flag, "false: an old picture", "false: en gammal bild"),
    ]
}
