import EnergyModel
import FoundationEssentials

/// What people read about link and control. Made from typed values, one whole
/// sentence per language; the token it says is always published beside it.
struct SiteSentences {
    let language: Language
    let zone: Zone

    func control(_ control: Control, names: [String: String], lastWordAt: Date?) -> String {
        let say = { (en: String, sv: String) in LocalText(en, sv)[language] }
        switch control.answer {
        case .yes:
            return say("FTW is running the house.", "FTW styr huset.")
        case .partly:
            let quiet = list(control.quiet, names)
            return say("FTW is running, but does not hear \(quiet).", "FTW styr, men hör inte \(quiet).")
        case .no where control.blockedBy.count > 1:
            let blockers = list(control.blockedBy, names)
            return say(
                "FTW has stopped steering: \(blockers) are silent.",
                "FTW har slutat styra: \(blockers) är tysta.")
        case .no:
            let blocker = list(control.blockedBy, names)
            return say(
                "FTW has stopped steering: \(blocker) is silent.", "FTW har slutat styra: \(blocker) är tyst."
            )
        case .unknown:
            guard let lastWordAt else {
                return say("No word from the box yet.", "Inget besked från boxen än.")
            }
            let since = date(lastWordAt)
            return say("No word from the box since \(since).", "Inget besked från boxen sedan \(since).")
        }
    }

    func link(_ link: Link) -> String {
        if let reason = link.reason { return sentence(reason)[language] }
        return sentence(link)[language]
    }

    private func sentence(_ link: Link) -> LocalText {
        switch link.state {
        case .connecting: LocalText("Looking for the relay.", "Söker reläet.")
        case .waitingForBox: LocalText("Waiting for the box.", "Väntar på boxen.")
        case .booting:
            if let percent = link.bootPercent {
                LocalText("The box is starting, \(percent) %.", "Boxen startar, \(percent) %.")
            } else {
                LocalText("The box is starting.", "Boxen startar.")
            }
        case .live: LocalText("Connected to the box.", "Ansluten till boxen.")
        case .lost: LocalText("The box was lost; trying again.", "Boxen tappades; försöker igen.")
        case .revoked: sentence(.revoked)
        case .unpaired: LocalText("Not paired with a box.", "Inte parkopplad med någon box.")
        case .readonly:
            LocalText(
                "Connected to the box; this bridge may only look.",
                "Ansluten till boxen; bryggan får bara titta.")
        case .floor:
            LocalText(
                "Connected, but box and bridge only share the smallest protocol; update the older one.",
                "Ansluten, men box och brygga delar bara det minsta protokollet; uppdatera den äldre.")
        }
    }

    private func sentence(_ reason: Link.Reason) -> LocalText {
        switch reason {
        case .relayUnreachable: LocalText("The relay cannot be reached.", "Reläet går inte att nå.")
        case .relayUnknownAuthority:
            LocalText(
                "The relay's certificate was signed by an unknown authority; a private relay needs its ca_file.",
                "Reläets certifikat är utfärdat av en okänd utfärdare; ett eget relä behöver sin ca_file.")
        case .relayWrongHost:
            LocalText(
                "The relay's certificate is for another host name; use the name it was made for.",
                "Reläets certifikat gäller ett annat värdnamn; använd namnet som det utfärdades för.")
        case .relayCertificate:
            LocalText(
                "The encrypted connection to the relay failed.",
                "Den krypterade anslutningen till reläet misslyckades.")
        case .relayBusy: LocalText("The relay has no room right now.", "Reläet har inte plats just nu.")
        case .clockWrong:
            LocalText(
                "The clock of this machine is wrong by about an hour or more.",
                "Klockan i den här datorn går fel med ungefär en timme eller mer.")
        case .boxAway:
            LocalText("The box is not connected to the relay.", "Boxen är inte ansluten till reläet.")
        case .handshakeUnanswered:
            LocalText("The box is there but does not answer.", "Boxen finns där men svarar inte.")
        case .codeRefused:
            LocalText(
                "The pairing code was not accepted. Make a new one and pair again.",
                "Parkopplingskoden godtogs inte. Skapa en ny och parkoppla igen.")
        case .evicted:
            LocalText(
                "Other clients keep taking our place on the box; standing back for a while.",
                "Andra klienter tar vår plats på boxen; väntar en stund.")
        case .silent: LocalText("The box went silent; trying again.", "Boxen tystnade; försöker igen.")
        case .boxGone: LocalText("The box left the relay.", "Boxen lämnade reläet.")
        case .revoked:
            LocalText(
                "The box's owner removed this bridge. Pair again.",
                "Boxens ägare tog bort bryggan. Parkoppla igen.")
        }
    }

    /// `meter, battery and solar`, by the names people gave them.
    private func list(_ ids: [String], _ names: [String: String]) -> String {
        let shown = ids.map { String((names[$0] ?? $0).prefix(60)) }
        guard let last = shown.last else {
            return LocalText("something", "något")[language]
        }
        if shown.count == 1 { return last }
        let and = LocalText("and", "och")[language]
        return "\(shown.dropLast().joined(separator: ", ")) \(and) \(last)"
    }

    /// Always with its day: the sentence stands for as long as nothing happens.
    private func date(_ instant: Date) -> String {
        let day = zone.day(of: instant)
        return "\(day.day) \(Self.months[language == .sv ? 1 : 0][day.month - 1]) \(zone.clock(instant))"
    }

    private static let months = [
        [
            "January", "February", "March", "April", "May", "June", "July", "August", "September",
            "October", "November", "December",
        ],
        [
            "januari", "februari", "mars", "april", "maj", "juni", "juli", "augusti", "september",
            "oktober", "november", "december",
        ],
    ]
}
