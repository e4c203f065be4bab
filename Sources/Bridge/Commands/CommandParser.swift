import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes

/// Turns what arrives on a command topic into a command, or the reason it is none.
///
/// Nothing is clamped: a value that the box or the charger cannot do is refused,
/// so that whoever sent it finds out. A retained message is refused too: it is
/// an old wish that the broker kept (MQTT 5.0 §3.3.1.3), and carrying it out
/// would move energy nobody asked for today.
struct CommandParser {
    let household: HouseholdZone
    let isReadOnly: Bool
    let open: Set<CommandName>
    let site: SiteState

    /// The longest payload that is looked at, in bytes.
    static let longestPayload = 4_096
    /// The longest id, in characters.
    static let longestID = 64
    /// The longest name of whoever asks, in characters.
    static let longestName = 40
    /// After that long nobody is waiting for it any more.
    static let patience = Duration.seconds(30)
    /// How far the sender's clock may be ahead of ours, in seconds.
    static let clockTolerance = 60.0

    /// The last levels of every topic that takes commands.
    private static let everyCommand =
        (CommandName.allCases.map { "\($0.rawValue)/set" } + ["level/adjust"]).sorted()
        .joined(separator: ", ")

    enum Result: Equatable {
        case command(Command)
        /// - `isOurID`: The message brought no usable id.
        case refused(StageReport, isOurID: Bool)
    }

    /// - Parameters:
    ///   - topic: What of the topic is ours; `nil` when no command lives there.
    ///   - ownID: For a message without an id.
    func parse(_ message: Message, topic: CommandTopic?, ownID: String, now: Moment) -> Result {
        var envelope = Envelope()
        do throws(CommandProblem) {
            try envelope.read(message)
            if message.retained { throw CommandProblem(.retained) }
            guard let topic else {
                throw .found(
                    message.topic.split(separator: "/").suffix(2).joined(separator: "/"),
                    LocalText(
                        "commands are \(Self.everyCommand)", "kommandon är \(Self.everyCommand)"),
                    code: .unknownCommand)
            }
            try checkOpen(topic.name)
            let car = try loadpoint(topic)
            let intent = try intent(topic, envelope, car, now: now)
            return .command(
                Command(
                    id: envelope.id ?? ownID, isOurID: envelope.id == nil, from: envelope.from,
                    topic: message.topic, loadpoint: car?.id, intent: intent, requested: envelope.requested,
                    deadline: try deadline(message, envelope, now: now),
                    responseTopic: message.responseTopic, correlationData: message.correlationData))
        } catch {
            let known = topic?.level.flatMap { level in
                site.cars?.first { TopicLevel($0.id).text == level }
            }
            return .refused(
                StageReport(
                    id: envelope.id ?? ownID, from: envelope.from, topic: message.topic,
                    loadpoint: known?.id,
                    stage: error.code == .expired ? .expired : .refused, code: error.code,
                    detail: error.detail, requested: envelope.requested, at: now.wall,
                    responseTopic: message.responseTopic, correlationData: message.correlationData),
                isOurID: envelope.id == nil)
        }
    }

    // MARK: What surrounds the value

    /// A payload taken apart.
    struct Envelope {
        var id: String?
        var from: String?
        /// The value as typed, or the member `value`, or the whole object.
        var value = JSONValue.null
        var options: [String: JSONValue] = [:]
        /// What stands beside a member `value`, and says more of what it asks for.
        var extras: [String: JSONValue] {
            options["value"] == nil
                ? [:] : options.filter { $0.key != "value" && !Self.about.contains($0.key) }
        }
        var requested = JSONValue.null

        /// A misspelt option would be a command with something missing, such as one
        /// to charge without the end that was meant.
        func allow(_ names: [String]) throws(CommandProblem) {
            // Without a member `value` the whole object is the value, its options among them.
            let given = options.keys.filter { $0 != "value" && !Self.about.contains($0) }
            guard let name = given.sorted().first(where: { !names.contains($0) }) else { return }
            let all = (["value"] + names + Self.about.sorted()).joined(separator: ", ")
            throw .found(name, LocalText("allowed are \(all)", "tillåtna är \(all)"))
        }

        mutating func read(_ message: Message) throws(CommandProblem) {
            guard message.payload.count <= CommandParser.longestPayload else {
                throw CommandProblem(
                    .badPayload,
                    LocalText(
                        "Not done: the payload is \(message.payload.count) bytes long; at most 4096 are read.",
                        "Inte gjort: innehållet är \(message.payload.count) byte långt; högst 4096 läses."))
            }
            guard let text = message.text else {
                throw CommandProblem(
                    .badPayload, LocalText("Not done: this is no text.", "Inte gjort: detta är ingen text."))
            }
            let typed = TypedText.trimmed(text)
            requested = .string(String(typed.prefix(200)))
            guard typed.first == "{" else {
                value = .string(typed)
                return
            }
            guard case .object(let members)? = try? JSONValue(parsing: text) else {
                throw CommandProblem(
                    .badPayload,
                    LocalText(
                        "Not done: this is no JSON object.", "Inte gjort: detta är inget JSON-objekt."))
            }
            options = members
            value = members["value"] ?? .object(members.filter { !Self.about.contains($0.key) })
            let asked = members["value"] ?? value
            requested = asked.bytes.count <= 512 ? asked : requested
            try readID(members["id"])
            try readName(members["from"])
        }

        /// Members that are about the message and not about what it asks for.
        static let about: Set<String> = ["id", "at", "expires_s", "from"]

        private mutating func readID(_ member: JSONValue?) throws(CommandProblem) {
            guard let member, !member.isNull else { return }
            guard let text = member.stringValue ?? member.intValue.map(String.init),
                Self.isShort(text, CommandParser.longestID)
            else {
                throw .found(
                    member.stringValue ?? member.text,
                    LocalText(
                        "an id is 1 to 64 printable characters", "ett id är 1 till 64 skrivbara tecken"))
            }
            id = text
        }

        /// It is shown to people and kept on disk, so it must be harmless there.
        private mutating func readName(_ member: JSONValue?) throws(CommandProblem) {
            guard let member, !member.isNull else { return }
            guard let name = member.stringValue.flatMap(Self.name) else {
                throw .found(
                    member.stringValue ?? member.text,
                    LocalText(
                        "from is a name of 1 to 40 printable characters",
                        "from är ett namn på 1 till 40 skrivbara tecken"))
            }
            from = name
        }

        /// The name of whoever asks; `nil` when it is too long, blank or not printable.
        static func name(_ text: String) -> String? {
            let trimmed = TypedText.trimmed(text)
            return isShort(trimmed, CommandParser.longestName) ? trimmed : nil
        }

        private static func isShort(_ text: String, _ most: Int) -> Bool {
            !text.isEmpty && text.utf8.count <= 4 * most && text.count <= most
                && TypedText.isPrintable(text)
        }
    }

    // MARK: Whether it is open

    private func checkOpen(_ name: CommandName) throws(CommandProblem) {
        if isReadOnly { throw CommandProblem(.readOnly) }
        guard open.contains(name) else {
            throw CommandProblem(
                .notAllowed,
                LocalText(
                    "Not done: commands.allow in the configuration does not name \(name.rawValue).",
                    "Inte gjort: commands.allow i konfigurationen nämner inte \(name.rawValue)."))
        }
        if site.box?.role == "viewer" || site.link.state == .readonly { throw CommandProblem(.notAllowed) }
    }

    /// The loadpoint that a topic level stands for; `nil` for a command to the site.
    private func loadpoint(_ topic: CommandTopic) throws(CommandProblem) -> CarState? {
        guard let level = topic.level else { return nil }
        guard let cars = site.cars else {
            throw CommandProblem(site.link.isUp ? .starting : .boxUnreachable)
        }
        guard let car = cars.first(where: { TopicLevel($0.id).text == level }) else {
            let known = cars.map { TopicLevel($0.id).text }.joined(separator: ", ")
            throw .found(
                level,
                known.isEmpty
                    ? LocalText("this box has no charger", "den här boxen har ingen laddare")
                    : LocalText("the chargers are \(known)", "laddarna är \(known)"),
                code: .noCharger)
        }
        return car
    }

    /// The earliest of the message's expiry (MQTT 5.0 §3.3.2.3.3), what the
    /// sender said, and ``patience``, from when the message may have come.
    private func deadline(_ message: Message, _ envelope: Envelope, now: Moment) throws(CommandProblem)
        -> Duration
    {
        var left = Self.patience
        if let seconds = message.expirySeconds { left = min(left, .seconds(Int64(seconds))) }
        let expires = envelope.options["expires_s"] ?? .null
        var seconds = Self.patience / .seconds(1)
        if !expires.isNull {
            guard let given = TypedText.quantity(expires, in: TypedText.secondUnits)?.number,
                (0...86_400).contains(given)
            else {
                throw .found(
                    expires.stringValue ?? expires.text,
                    LocalText(
                        "expires_s is a number of seconds from 0 to 86400",
                        "expires_s är ett antal sekunder från 0 till 86400"))
            }
            seconds = given
            left = min(left, .milliseconds(Int64(seconds * 1_000)))
        }
        // A program that stood still finds what came meanwhile, and all of it looks new.
        left -= message.waited
        let at = envelope.options["at"] ?? .null
        if !at.isNull {
            // What says when it was wished and not how long it holds is held to
            // the same patience, or a queue on the way would make it last for ever.
            guard let sent = Self.instant(at) else {
                throw .found(
                    at.stringValue ?? at.text,
                    LocalText(
                        "at is a time such as 2026-11-30T07:00:00+01:00",
                        "at är en tid som 2026-11-30T07:00:00+01:00"))
            }
            let age = now.wall.timeIntervalSince(sent)
            guard abs(age) < 1e9 else { throw CommandProblem(.expired) }
            // By a clock that is ahead nobody can tell how old the wish is.
            guard age >= -Self.clockTolerance else {
                throw .found(
                    at.stringValue ?? at.text,
                    LocalText(
                        "at lies more than a minute ahead of this machine's clock, "
                            + household.zone.iso8601(now.wall),
                        "at ligger mer än en minut före den här maskinens klocka, "
                            + household.zone.iso8601(now.wall)))
            }
            left = min(left, .milliseconds(Int64((seconds - age) * 1_000)))
        }
        guard left > .zero else { throw CommandProblem(.expired) }
        return now.monotonic + left
    }

    /// ISO 8601 with offset, or seconds since 1970.
    static func instant(_ value: JSONValue) -> Date? {
        if let text = value.stringValue { return EnergyModel.instant(rfc3339: TypedText.trimmed(text)) }
        guard let seconds = value.doubleValue, seconds.isFinite, (0...1e11).contains(seconds) else {
            return nil
        }
        return Date(timeIntervalSince1970: seconds)
    }
}
