public import EnergyModel
import MQTTTypes

extension TopicTree {
    /// The page about topics, as Markdown. What is checked in is this text.
    public static func documentation(language: Language) -> String {
        let words = Words(language)
        var lines = [
            "# " + words.title, "", words.intro, "",
            "| \(words.topic) | \(words.meaning) | \(words.payload) | \(words.direction) | QoS | "
                + "\(words.retained) | \(words.expiry) | \(words.occasion) |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for row in table {
            let cells = [
                "`\(row.name.rawValue)`", row.meaning[language], words.payload(of: row),
                row.direction == .state ? words.out : words.in,
                String(row.qos.rawValue), row.isRetained ? words.yes : words.no,
                words.expiry(of: row), row.occasion[language],
            ]
            lines.append("| " + cells.joined(separator: " | ") + " |")
        }
        for row in table where !row.members.isEmpty {
            lines += [
                "", "## `\(row.name.rawValue)`", "", row.meaning[language], "",
                "| \(words.member) | \(words.kind) | \(words.unit) | \(words.meaning) |", "|---|---|---|---|",
            ]
            for member in row.members {
                let (kind, unit) = words.kind(of: member)
                lines.append("| `\(member.name)` | \(kind) | \(unit) | \(member.meaning[language]) |")
            }
        }
        lines += voice(language)
        return lines.joined(separator: "\n") + "\n"
    }

    /// Topics that are not ours: those of the Hermes protocol, when it is switched on.
    private static func voice(_ language: Language) -> [String] {
        func say(_ en: String, _ sv: String) -> String { LocalText(en, sv)[language] }
        let words = Words(language)
        let rows = [
            (
                HermesIntent.topicPrefix + "#", words.in,
                say(
                    "What somebody said: `intent.intentName`, `slots`, `sessionId`, `siteId`, `lang`. Only names "
                        + "that begin with `voice.prefix` are ours; a retained one is never acted on.",
                    "Vad någon sade: `intent.intentName`, `slots`, `sessionId`, `siteId`, `lang`. Bara namn som "
                        + "börjar med `voice.prefix` är våra; ett kvarhållet leder aldrig till något.")
            ),
            (
                BridgeMachine.endSession, words.out,
                say(
                    "The answer, with `sessionId`, `siteId` and `text`; of a command, its outcome.",
                    "Svaret, med `sessionId`, `siteId` och `text`; för ett kommando dess utfall.")
            ),
            (
                BridgeMachine.continueSession, words.out,
                say(
                    "Asks which car is meant; also with `intentFilter`.",
                    "Frågar vilken bil som menas; också med `intentFilter`.")
            ),
            (
                BridgeMachine.say, words.out,
                say(
                    "The answer where there is no session: `text`, `siteId`, `lang`.",
                    "Svaret där ingen session finns: `text`, `siteId`, `lang`.")
            ),
        ]
        return [
            "", "## " + say("Voice (Hermes)", "Röst (Hermes)"), "",
            say(
                "With `voice.hermes: true` the bridge also uses these topics, which are not below `<base>/<site>/`. "
                    + "Nothing there is retained; all of it is QoS 1. See `config/hermes/`.",
                "Med `voice.hermes: true` använder bryggan också dessa ämnen, som inte ligger under "
                    + "`<bas>/<anläggning>/`. Inget där är kvarhållet; allt har QoS 1. Se `config/hermes/`."),
            "",
            "| \(words.topic) | \(words.direction) | \(words.meaning) |", "|---|---|---|",
        ] + rows.map { "| `\($0.0)` | \($0.1) | \($0.2) |" }
    }

    /// The words of the page around what the table says.
    private struct Words {
        let language: Language
        init(_ language: Language) { self.language = language }

        private func say(_ en: String, _ sv: String) -> String { LocalText(en, sv)[language] }

        var title: String { say("Topics", "Ämnen") }
        var intro: String {
            say(
                """
                This page is made from the table in the code; a test compares the two. Every topic below lies \
                under `<base>/<site>/`, by default `ftw/home/`. `<id>` is made from the box's id of the source or \
                charging point, `[a-z0-9-]` only; `<n>` is each of `prices.cheap_hours`. Documents are JSON \
                objects in which every member is always present and \
                unknown is `null`. Times are ISO 8601 with the household's offset. With `mqtt.values: true` \
                every member that is no list or object is also published alone, as `<topic>/<member>`, with \
                `null` for unknown. Requests must not be retained: a retained \
                one is refused and removed (on MQTT 3.1.1, where a broker hides the flag of what comes live, it \
                is carried out once and removed). An expiry needs MQTT 5 and holds while the \
                value is live.
                """,
                """
                Sidan är gjord av tabellen i koden; ett test jämför de två. Varje ämne nedan ligger under \
                `<bas>/<anläggning>/`, från början `ftw/home/`. `<id>` är gjort av boxens id för källan eller \
                laddpunkten, bara `[a-z0-9-]`; `<n>` är var och en av `prices.cheap_hours`. Dokument är JSON-objekt \
                där varje medlem alltid finns med och okänt är `null`. \
                Tider är ISO 8601 med hushållets tidsskillnad. Med `mqtt.values: true` publiceras varje medlem \
                som inte är en lista eller ett objekt också för sig, som `<ämne>/<medlem>`, med `null` för \
                okänt. Begäranden får inte vara kvarhållna: en \
                kvarhållen nekas och tas bort (med MQTT 3.1.1, där brokern döljer flaggan för det som kommer just \
                nu, utförs den en gång och tas bort). Livslängd kräver MQTT 5 och gäller medan värdet är \
                färskt.
                """)
        }
        var topic: String { say("Topic", "Ämne") }
        var meaning: String { say("Meaning", "Betydelse") }
        var payload: String { say("Payload", "Innehåll") }
        var direction: String { say("Direction", "Riktning") }
        var retained: String { say("Retained", "Kvarhålls") }
        var expiry: String { say("Expiry", "Livslängd") }
        var occasion: String { say("When", "När") }
        var out: String { say("from the bridge", "från bryggan") }
        var `in`: String { say("to the bridge", "till bryggan") }
        var yes: String { say("yes", "ja") }
        var no: String { say("no", "nej") }
        var member: String { say("Member", "Medlem") }
        var kind: String { say("Kind", "Slag") }
        var unit: String { say("Unit", "Enhet") }

        func expiry(of row: TopicSpec) -> String {
            if let member = row.expiresWith {
                let after = "\(TopicSpec.expiryGrace) s"
                return say("\(after) after its `\(member)`", "\(after) efter `\(member)`")
            }
            return row.expirySeconds.map { "\($0) s" } ?? "–"
        }

        func payload(of row: TopicSpec) -> String {
            switch row.form {
            case .plain(let words): words.map { "`\($0)`" }.joined(separator: ", ")
            case .document: say("document, see below", "dokument, se nedan")
            case .text: say("text", "text")
            case .any: say("anything, or `{\"id\": …}`", "vad som helst, eller `{\"id\": …}`")
            }
        }

        func kind(of member: TopicSpec.Member) -> (kind: String, unit: String) {
            switch member.kind {
            case .number(let unit): (say("number", "tal"), unit.isEmpty ? "–" : unit)
            case .text: (say("text", "text"), "–")
            case .token(let words): (words.map { "`\($0)`" }.joined(separator: ", "), "–")
            case .flag: (say("true or false", "sant eller falskt"), "–")
            case .time: (say("time", "tid"), "–")
            case .list: (say("list", "lista"), "–")
            case .object: (say("object", "objekt"), "–")
            }
        }
    }
}
