import EnergyModel
import FoundationEssentials
import JSONText

/// A stage as `result` and `last_command` tell it.
extension SiteDocuments {
    /// - Parameter path: The command's topic below the site.
    func result(_ report: StageReport, path: String?) -> Document {
        let topic = path.flatMap(CommandTopic.init(path:))
        return [
            "id": .string(report.id), "from": text(report.from), "topic": .string(report.topic),
            "stage": .string(report.stage.rawValue), "final": .bool(report.stage.isFinal),
            "code": text(report.code?.rawValue),
            "box_code": text(report.boxCode), "text": .string(words(report, topic, language)),
            "requested": report.requested, "value": value(report.value, topic), "at": time(report.at),
        ]
    }

    /// The same for `result`, which may say it more than once.
    func told(_ report: StageReport, path: String?) -> Document {
        var document = result(report, path: path)
        document["repeated"] = .bool(report.telling == .perhapsAgain || report.telling == .askedAgain)
        return document
    }

    /// What the box read back, in the unit of the topic: a level in percent.
    private func value(_ value: JSONValue?, _ topic: CommandTopic?) -> JSONValue {
        guard let value else { return .null }
        guard topic?.name == .level, let soc = value.doubleValue else { return value }
        return percent(soc)
    }

    /// How the last command ended, for reading or speaking; `nil` when there is none.
    ///
    /// - Parameter path: The command's topic below the site.
    func receipt(_ report: StageReport?, path: String?, _ language: Language) -> JSONValue {
        report.map { .string(words($0, path.flatMap(CommandTopic.init(path:)), language)) } ?? .null
    }

    /// The stage as a sentence.
    ///
    /// - Parameter topic: What was commanded; `nil` when no command lives there.
    func words(_ report: StageReport, _ topic: CommandTopic?, _ language: Language) -> String {
        if let detail = report.detail { return Sentence.limited(detail[language]) }
        func say(_ sentence: Sentence) -> String { sentence.text(language, zone: zone, now: report.at) }
        switch report.stage {
        case .received: return LocalText("Received.", "Mottaget.")[language]
        case .accepted: return say(.receipt(.received))
        case .done: return say(.receipt(.done))
        case .superseded:
            return say(.receipt(report.value.map { .overtaken(kept($0, topic)) } ?? .replaced))
        case .unconfirmed:
            return LocalText(
                "The outcome is not known: no answer from the box.", "Utfallet är okänt: boxen svarade inte.")[
                    language]
        case .refused, .expired, .notDelivered: return refusal(report.code ?? .unavailable, language)
        }
    }

    private func kept(_ value: JSONValue, _ topic: CommandTopic?) -> Sentence.Value {
        if topic?.name == .level, let soc = value.doubleValue { return .level(soc) }
        if let flag = value.boolValue { return .on(flag) }
        if let text = value.stringValue {
            return Sentence.Intention(rawValue: text).map(Sentence.Value.control) ?? .plain(text)
        }
        if topic?.name == .control, let watts = value.doubleValue { return .power(watts: watts) }
        return .plain(value.text)
    }

    private func refusal(_ code: CommandCode, _ language: Language) -> String {
        Sentence.refused(code).text(language, zone: zone, now: .distantPast)
    }
}

extension LocalText {
    /// The box had it, and then nothing more was heard of it.
    static let takenByTheBox = LocalText(
        Sentence.receipt(.unsure).text(.en, zone: .utc, now: .distantPast),
        Sentence.receipt(.unsure).text(.sv, zone: .utc, now: .distantPast))

    static let stateFolder = LocalText(
        "Not done: the bridge cannot write to its state folder, so it could not make sure that this is done "
            + "only once.",
        "Inte gjort: bryggan kan inte skriva i sin tillståndsmapp och kan då inte se till att det görs bara "
            + "en gång.")

    static let idOfAnother = LocalText(
        "Not done: this id was another command's within a day; each command has an id of its own.",
        "Inte gjort: detta id hörde till ett annat kommando inom ett dygn; varje kommando har ett eget id.")

    static let nothingToCountFrom = LocalText(
        "Not done: the car's level is not known, so a step has nothing to count from. Set the level itself.",
        "Inte gjort: bilens nivå är okänd, så det finns inget att räkna steget från. Ange själva nivån.")

    /// What has to be said for a goal that cannot be changed, since there is none.
    init(_ missing: BoxRefusalReason.Missing) {
        self =
            switch missing {
            case .goalLevel:
                LocalText(
                    "Not done: there is no goal yet, so its level has to be named too.",
                    "Inte gjort: det finns inget mål än, så även nivån måste anges.")
            case .goalTime:
                LocalText(
                    "Not done: there is no goal yet, so its time has to be named too.",
                    "Inte gjort: det finns inget mål än, så även tiden måste anges.")
            case .goalDays:
                LocalText(
                    "Not done: the goal's days at the box cannot be read, so they have to be named too.",
                    "Inte gjort: målets dagar hos boxen går inte att läsa, så även de måste anges.")
            }
    }
}
