import BoxLink

/// `hello_ok`: what the box is and what it grants us (FTW wire §6.1).
struct HelloOKMessage: Equatable {
    static let type = Contract.MessageType.helloOK.rawValue

    struct Mode: Equatable {
        var key: String
        var label: String
        var tooltip: String
        var tier: String
    }
    struct Boot: Equatable {
        var phase: String
        /// 0 to 100.
        var percent: Int64
        /// `nil` when the box cannot tell.
        var remainingMs: Int64?
    }

    var proto: Int64
    /// `full`, `floor`, `booting`, `readonly`, or a word of a later box.
    var mode: String
    /// Opaque; may be empty.
    var boxID: String
    var build: String
    /// An IANA name, `UTC` or `Local`.
    var zone: String
    var clockSource: String
    /// 0 means unknown; every box of today sends 0.
    var syncedAtMs: Int64
    /// Milliseconds since the box process started.
    var uptimeMs: Int64
    var caps: [String]
    var capsHash: String
    var modes: [Mode]
    var boot: Boot?
    var hint: String?
    /// `nil` on boxes older than roles.
    var role: String?
    /// `nil` on boxes older than roles, and when the box says `null`.
    var scopes: [String]?
    /// `true` when the folded subscription was taken and a snapshot follows.
    var subscribed: Bool?

    init(body: CBORValue?) throws(MessageError) {
        let body = try MessageBody(body)
        proto = try body.int("proto")
        mode = try body.text("mode")
        let box = try MessageBody(body.required("box"))
        boxID = try box.optionalText("id") ?? ""
        build = try box.optionalText("build") ?? ""
        zone = try box.optionalText("tz") ?? ""
        let clock = try MessageBody(body.required("clock"))
        clockSource = try clock.optionalText("source") ?? ""
        syncedAtMs = try clock.optionalInt("syncedAtMs") ?? 0
        uptimeMs = try clock.int("uptimeMs")
        caps = try body.optionalTexts("caps") ?? []
        capsHash = try body.optionalText("capsHash") ?? ""
        modes = []
        if body.optional("modes") != nil {
            for item in try body.array("modes") {
                let mode = try MessageBody(item)
                let key = try mode.text("key")
                modes.append(
                    Mode(
                        key: key, label: try mode.optionalText("label") ?? key,
                        tooltip: try mode.optionalText("tooltip") ?? "",
                        tier: try mode.optionalText("tier") ?? ""))
            }
        }
        if let value = body.optional("boot") {
            let boot = try MessageBody(value)
            self.boot = Boot(
                phase: try boot.optionalText("phase") ?? "", percent: try boot.optionalInt("pct") ?? 0,
                remainingMs: try boot.optionalInt("etaMs"))
        }
        hint = try body.optionalText("hint")
        role = try body.optionalText("role")
        scopes = try body.optionalTexts("scopes")
        subscribed = try body.optionalBool("subscribed")
    }

    var body: CBORValue {
        var builder = BodyBuilder()
        builder.add("proto", .int(proto))
        builder.add("mode", .text(mode))
        builder.add("box", ["id": .text(boxID), "build": .text(build), "tz": .text(zone)])
        builder.add(
            "clock",
            [
                "source": .text(clockSource), "syncedAtMs": .int(syncedAtMs),
                "uptimeMs": .int(uptimeMs),
            ])
        builder.add("caps", CBORValue(texts: caps))
        builder.add("capsHash", .text(capsHash))
        builder.add(
            "modes",
            .array(
                modes.map {
                    [
                        "key": .text($0.key), "label": .text($0.label), "tooltip": .text($0.tooltip),
                        "tier": .text($0.tier),
                    ]
                }))
        if let boot {
            builder.add(
                "boot",
                [
                    "phase": .text(boot.phase), "pct": .int(boot.percent),
                    "etaMs": boot.remainingMs.map { .int($0) } ?? .null,
                ])
        }
        builder.add("hint", hint.map { .text($0) })
        builder.add("role", role.map { .text($0) })
        builder.add("scopes", scopes.map { CBORValue(texts: $0) })
        builder.add("subscribed", subscribed.map { .bool($0) })
        return builder.value
    }
}
