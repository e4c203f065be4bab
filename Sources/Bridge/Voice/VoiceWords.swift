import EnergyModel
import JSONText

/// What is said in a conversation beside the sentences of ``Sentence``.
struct VoiceWords: Sendable {
    let language: Language

    init(_ language: Language) { self.language = language }

    private func say(_ en: String, _ sv: String) -> String { LocalText(en, sv)[language] }

    // MARK: What was not understood

    func problem(_ problem: VoiceProblem) -> String {
        switch problem {
        case .notUnderstood: say("I did not understand that.", "Det förstod jag inte.")
        case .noLevel:
            say(
                "Which level? Say for instance: the car is at 62 percent.",
                "Vilken nivå? Säg till exempel: bilen är på 62 procent.")
        case .noGoal:
            say(
                "Which goal? Say for instance: charge the car to 80 percent by seven.",
                "Vilket mål? Säg till exempel: ladda bilen till 80 procent till sju.")
        }
    }

    func whichCar(_ names: [String]) -> String {
        say("Which car: \(list(names, "or"))?", "Vilken bil: \(list(names, "eller"))?")
    }

    /// For somebody who cannot answer.
    func nameTheCar(_ names: [String]) -> String {
        say(
            "There are several cars: \(list(names, "and")). Say which one.",
            "Det finns flera bilar: \(list(names, "och")). Säg vilken.")
    }

    func noCar(_ said: String, _ names: [String]) -> String {
        say(
            "I know no car called \(said). There is \(list(names, "and")).",
            "Jag känner ingen bil som heter \(said). Det finns \(list(names, "och")).")
    }

    func noHome(_ said: String) -> String {
        say("I know no home called \(said).", "Jag känner inget hem som heter \(said).")
    }

    var nothingAsked: String { say("I asked nothing.", "Jag har inte frågat något.") }
    var leftAlone: String { say("Nothing was changed.", "Inget har ändrats.") }
    var busy: String {
        say("Too much at once. Try again in a moment.", "För mycket på en gång. Försök igen strax.")
    }
    var noCharger: String { say("The box has no charger.", "Boxen har ingen laddare.") }
    var notYet: String {
        say("Nothing is known of the car yet.", "Inget är känt om bilen än.")
    }
    var nothingNewer: String {
        say("Nothing newer is known.", "Inget nyare är känt.")
    }
    var underWay: String {
        say("A change is under way; ask again in a moment.", "En ändring pågår; fråga igen om en stund.")
    }
    var unconfirmed: String {
        say(
            "Not confirmed: the box has not said what became of it.",
            "Inte bekräftat: boxen har inte sagt vad det blev.")
    }

    private func list(_ names: [String], _ word: String) -> String {
        // More would be a recitation.
        let shown = names.prefix(4).map { String($0.prefix(40)) }
        guard let last = shown.last, shown.count > 1 else { return shown.first ?? "?" }
        return shown.dropLast().joined(separator: ", ") + " \(word) " + last
    }

    // MARK: What was done

    /// A command that the box confirmed, with what it read back.
    func done(_ intent: VoiceIntent, _ value: JSONValue?) -> String {
        switch intent {
        case .chargeNow: return say("Done: charge now is on.", "Klart: ladda nu är på.")
        case .pause: return say("Done: charging is paused.", "Klart: laddningen är pausad.")
        case .backToPlan: return say("Done: the plan decides again.", "Klart: planen bestämmer igen.")
        case .setLevel:
            guard let soc = value?.doubleValue, let percent = Int(exactly: (soc * 100).rounded()) else {
                break
            }
            let level = String(percent)
            return say("Done: the level is \(level) %.", "Klart: nivån är \(level) %.")
        case .setGoal:
            guard let goal = value?.stringValue.flatMap(goal) else { break }
            return say("Done: the goal is \(goal).", "Klart: målet är \(goal).")
        case .carLevel, .carReady, .whichCar, .cancel: break
        }
        return say("Done.", "Klart.")
    }

    /// `80% 07:00 daily` as it was read back, in words.
    private func goal(_ readBack: String) -> String? {
        let parts = readBack.split(separator: " ").map(String.init)
        guard parts.count == 3, parts[0].hasSuffix("%") else { return nil }
        let days: String
        switch parts[2] {
        case "once": days = say("this time only", "bara denna gång")
        case "daily": days = say("every day", "varje dag")
        case "mon,tue,wed,thu,fri": days = say("on weekdays", "på vardagar")
        case "sat,sun": days = say("on weekends", "på helger")
        default:
            let names = parts[2].split(separator: ",").compactMap { dayNames[String($0)] }
            guard !names.isEmpty else { return nil }
            days = say("on ", "") + list(names, say("and", "och"))
        }
        let level = parts[0].dropLast()
        return say("\(level) % by \(parts[1]), \(days)", "\(level) % till \(parts[1]), \(days)")
    }

    private var dayNames: [String: String] {
        language == .sv
            ? [
                "mon": "måndag", "tue": "tisdag", "wed": "onsdag", "thu": "torsdag", "fri": "fredag",
                "sat": "lördag", "sun": "söndag",
            ]
            : [
                "mon": "Monday", "tue": "Tuesday", "wed": "Wednesday", "thu": "Thursday", "fri": "Friday",
                "sat": "Saturday", "sun": "Sunday",
            ]
    }
}
