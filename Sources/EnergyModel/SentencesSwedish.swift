import FoundationEssentials

/// The bridge's Swedish.
struct Swedish {
    let calendar: HouseholdCalendar

    func text(_ sentence: Sentence) -> String {
        switch sentence {
        case .level(let level): self.level(level)
        case .goal(let goal): self.goal(goal)
        case .readiness(let readiness): self.readiness(readiness)
        case .charging(let state): charging(state)
        case .control(let answer, let blockedBy, let quiet, let lastWord):
            control(answer, NameList(blockedBy), NameList(quiet), lastWord)
        case .link(let link): self.link(link)
        case .receipt(let receipt): self.receipt(receipt)
        case .refused(let refusal): refused(refusal)
        case .price(let perKWh, let unit, let until):
            perKWh < 0
                ? "Under noll: \(number(perKWh, 2)) \(unit) till \(time(until))."
                : "\(number(perKWh, 2)) \(unit) till \(time(until))."
        case .cheapest(let hours, let start, let end, let isRunning):
            isRunning
                ? "De billigaste \(hours) h pågår till \(time(end))."
                : "De billigaste \(hours) h är från \(time(start)) till \(endTime(end, after: start))."
        case .noCheapest(let asked, let known):
            "Priser är kända för högst \(hours(known)) h i följd; \(hours(asked)) h behövs."
        case .planStep(let step, let batteryW):
            switch step {
            case .stores: "Lagrar, \(kilowatts(batteryW)) kW."
            case .gives: "Ger, \(kilowatts(batteryW)) kW."
            case .waits: "Väntar."
            }
        case .planned(let at): "Planerat \(time(at))."
        }
    }

    private func level(_ level: CarLevel) -> String {
        if level.isUnplugged {
            guard level.outdated else { return "Ingen bil är inkopplad." }
            return level.at.map { "Ingen bil var inkopplad \(time($0)); inget nyare är känt." }
                ?? "Ingen bil var inkopplad; inget nyare är känt."
        }
        guard let soc = level.soc else { return "Bilens nivå är okänd." }
        let n = Numeral.percent(soc)
        switch (level.origin, level.outdated) {
        case (.car, false): return "Batteriet \(n) %, enligt bilen."
        case (.car, true), (.carOld, _):
            return level.at.map { "Batteriet \(n) %, bilens senaste besked \(time($0))." }
                ?? "Batteriet \(n) % när bilen senast svarade."
        case (.unknown, _): return "Bilens nivå är okänd."
        case (.assumed, false): return "FTW gissar \(n) %. Ange den riktiga nivån."
        case (.assumed, true):
            return level.at.map { "FTW gissade \(n) % \(time($0)); inget nyare är känt." }
                ?? "FTW gissade \(n) %; inget nyare är känt."
        case (.person, true), (.estimated, true):
            guard level.origin == .estimated, let when = level.at else {
                return "Ungefär \(n) % när boxen senast svarade; inget nyare är känt."
            }
            return "Ungefär \(n) % \(time(when)); inget nyare är känt."
        case (.person, false):
            guard let person = level.person else { return "Ungefär \(n) %, som angetts." }
            return
                "Ungefär \(n) %, räknat från \(Numeral.percent(person.soc)) % som angavs \(time(person.at))."
        case (.estimated, false):
            return level.isUnconfirmed
                ? "Ungefär \(n) %, FTW:s beräkning som ingen har bekräftat."
                : "Ungefär \(n) %, FTW:s beräkning."
        }
    }

    private func goal(_ goal: Goal?) -> String {
        guard let goal else { return "Inget laddmål är satt." }
        if goal.isSpent { return "Engångsmålet har passerat." }
        let home = goal.zone.isHomeTime ? " (tid hemma)" : ""
        let what =
            goal.finishesAtVehicleLimit
            ? "Laddar tills bilen är nöjd, till" : "Mål: \(Numeral.percent(goal.soc ?? 1)) % till"
        guard goal.recurring else {
            let by = goal.nextDeadline.map(time) ?? clockText(minute: goal.minuteOfDay)
            return "\(what) \(by)\(home), bara denna gång."
        }
        let clock = clockText(minute: goal.minuteOfDay)
        let days = goal.days.map { ", \(self.days($0))" } ?? ""
        guard calendar.shifts(goal), let next = goal.nextDeadline else {
            return "\(what) \(clock)\(home)\(days)."
        }
        return "\(what) \(clock)\(home)\(days). Nästa gång: \(time(next))."
    }

    private func readiness(_ ready: Readiness) -> String {
        switch (ready.state, ready.reason) {
        case (.noGoal, _): return "Inget laddmål är satt."
        case (.replanning, _): return "En ny plan räknas fram."
        case (_, .prices):
            return "Morgondagens priser är inte ute än; solen kan ladda under tiden."
        case (.onTrack, _), (.late, _): break
        default: return ""
        }
        guard let by = ready.by, let goal = ready.goalSoc else { return "" }
        var sentences: [String] = []
        if ready.state == .late, let expected = ready.expectedSoc {
            let (e, g) = (Numeral.percent(expected), Numeral.percent(goal))
            sentences.append("Den hinner inte: ungefär \(e) % till \(time(by)) i stället för \(g) %.")
        } else {
            sentences.append("Den når \(Numeral.percent(goal)) % till \(time(by)).")
        }
        if let guess = ready.assumedFrom {
            sentences.append("Det bygger på FTW:s gissning \(Numeral.percent(guess)) %.")
        }
        if ready.isCapacityGuessed { sentences.append("Batteristorleken är en gissning.") }
        return sentences.joined(separator: " ")
    }

    private func charging(_ state: ChargingState) -> String {
        switch state {
        case .unplugged: "Ingen bil är inkopplad."
        case .charging(let powerW): "Laddar med \(kilowatts(powerW)) kW."
        case .heldCharging(let powerW): "Ladda nu är på, laddar med \(kilowatts(powerW)) kW."
        case .heldWaiting: "Ladda nu är på; bilen drar ingen ström än."
        case .heldLimited(.fuse): "Ladda nu är på men bromsas av huvudsäkringen."
        case .heldLimited(.fuseCooldown): "Ladda nu är på men bromsas medan huvudsäkringen återhämtar sig."
        case .heldLimited(.meter): "Ladda nu är på men bromsas för att husets mätare är tyst."
        case .heldLimited(.charger): "Ladda nu är på men bromsas av laddarens egen gräns."
        case .heldLimited(.other): "Ladda nu är på men bromsas."
        case .paused: "Laddningen är pausad tills någon startar den."
        case .needsChoice: "Efter en omstart väntar FTW på ett val: ladda nu eller planen."
        case .declined: "Bilen tackade nej till ström. Den kan ha en egen gräns."
        case .waiting(let window):
            window.start <= calendar.now
                ? "Laddning är planerad till \(time(window.end))."
                : "Nästa laddning \(stretch(window.start, window.end))."
        case .idle: "Inkopplad; ingen laddning är planerad."
        case .unknown: "Laddaren svarar inte."
        }
    }

    private func control(
        _ answer: Control.Answer, _ blockedBy: NameList, _ quiet: NameList, _ lastWord: Date?
    ) -> String {
        switch answer {
        case .yes: return "FTW styr huset."
        case .partly: return "FTW styr, men hör inte \(names(quiet))."
        case .no:
            return blockedBy.isPlural
                ? "FTW har slutat styra: \(names(blockedBy)) är tysta."
                : "FTW har slutat styra: \(names(blockedBy)) är tyst."
        case .unknown:
            return lastWord.map { "Inget besked från boxen sedan \(time($0))." }
                ?? "Inget besked från boxen än."
        }
    }

    private func names(_ list: NameList) -> String { list.joined(and: "och", more: "till") }

    private func link(_ link: Link) -> String {
        switch link.state {
        case .live: return "Ansluten till boxen."
        case .readonly: return "Ansluten till boxen; bryggan får bara titta."
        case .floor: return "Ansluten, men box och brygga delar bara det enklaste. Uppdatera den äldre."
        case .revoked: return "Boxen tog bort bryggan; para ihop igen."
        case .unpaired:
            switch link.reason {
            case .codeRefused, .pairingUnreadable: break
            default: return "Inte parad med någon box än."
            }
        case .booting:
            return link.bootPercent.map { "Boxen startar, \($0) % klart." } ?? "Boxen startar."
        case .connecting, .waitingForBox, .lost: break
        }
        switch link.reason {
        case .relayUnreachable: return "Reläet kan inte nås. Försöker igen."
        case .relayUnknownAuthority:
            return "Reläets certifikat är utfärdat av en okänd utfärdare; ett eget relä behöver sin ca_file."
        case .relayWrongHost:
            return "Reläets certifikat gäller ett annat värdnamn; använd namnet som det utfärdades för."
        case .relayCertificate: return "Den krypterade anslutningen till reläet misslyckades."
        case .relayBusy: return "Reläet har ingen plats just nu. Försöker igen."
        case .clockWrong: return "Den här datorns klocka går fel. Ställ den, så kommer länken tillbaka."
        case .boxAway: return "Boxen är inte där. Är den på och ansluten till nätet?"
        case .handshakeUnanswered: return "Boxen är där men svarar inte bryggan."
        case .codeRefused: return "Parningskoden godtogs inte. Skapa en ny i FTW-appen."
        case .pairingUnreadable:
            return "Parningen finns men kan inte läsas; ftw-mqtt check säger vad som ska göras."
        case .evicted: return "Andra appar tar bryggans plats gång på gång. Väntar en stund."
        case .silent: return "Boxen har tystnat. Försöker igen."
        case .boxGone: return "Boxen försvann. Försöker igen."
        case .revoked: return "Boxen tog bort bryggan; para ihop igen."
        case .stopped: return "Bryggan är stoppad."
        case nil: break
        }
        switch link.state {
        case .connecting: return "Ansluter till reläet."
        case .waitingForBox: return "Väntar på boxen."
        default: return "Förbindelsen med boxen bröts. Försöker igen."
        }
    }

    private func receipt(_ receipt: Sentence.Receipt) -> String {
        switch receipt {
        case .sent: "Skickat."
        case .received: "Boxen har tagit emot."
        case .done: "Klart."
        case .overtaken(let value): "Boxen behöll ett annat värde: \(self.value(value))."
        case .unsure: "Mottaget av boxen, utfallet är okänt."
        case .replaced: "Ersatt av en senare begäran."
        }
    }

    private func value(_ value: Sentence.Value) -> String {
        switch value {
        case .level(let soc): "\(Numeral.percent(soc)) %"
        case .power(let watts): "\(kilowatts(watts)) kW"
        case .on(let isOn): isOn ? "på" : "av"
        case .control(.plan): "planen"
        case .control(.chargeNow): "ladda nu"
        case .control(.paused): "pausad"
        case .plain(let text): String(text.prefix(100))
        }
    }

    private func refused(_ refusal: Sentence.Refusal) -> String {
        switch refusal {
        case .badPayload: "Inte gjort: begäran gick inte att förstå."
        case .unknownCommand: "Inte gjort: det finns inget sådant kommando."
        case .outOfRange: "Inte gjort: boxen tar inte det värdet."
        case .retained: "Inte gjort: ett kvarhållet meddelande är inget kommando. Skicka det utan retain."
        case .expired: "Inte gjort: begäran var för gammal."
        case .busy: "Inte gjort: boxen är upptagen. Försök igen."
        case .rateLimited: "Inte gjort: för många begäranden. Vänta en minut."
        case .readOnly: "Inte gjort: bryggan får bara titta."
        case .notPluggedIn: "Inte gjort: koppla in bilen först."
        case .noCharger: "Inte gjort: boxen har ingen sådan laddare."
        case .boxUnreachable: "Nådde inte fram: boxen kan inte nås."
        case .noAnswer: "Nådde inte fram."
        case .dispatchBlocked: "Inte gjort: husets mätare är tyst."
        case .notAllowed: "Inte gjort: bara ägare får göra detta."
        case .needsConsent:
            "Inte gjort: boxen vill ha ägarens medgivande. Ge det med commands.goal_consent: true, eller "
                + "bekräfta i FTW-appen."
        case .conflict: "Inte gjort: något ändrades under tiden. Försök igen."
        case .precondition: "Inte gjort: det passar inte det som boxen gör nu."
        case .unsupported: "Inte gjort: den här boxen kan inte det än."
        case .unavailable: "Inte gjort: boxen kan inte göra det just nu."
        case .starting: "Inte gjort: boxen håller på att starta."
        }
    }

    // MARK: Times and numbers

    /// `07:00`, `i morgon 07:00`, `måndag 07:00`, `2 nov 07:00`.
    private func time(_ instant: Date) -> String { time(instant, clock: clock(instant)) }

    private func time(_ instant: Date, clock: String) -> String {
        switch calendar.day(of: instant) {
        case .today: return clock
        case .tomorrow: return "i morgon \(clock)"
        case .yesterday: return "i går \(clock)"
        case .weekday(let weekday): return "\(Self.weekdays[weekday]) \(clock)"
        case .date(let day, let month, let year):
            let date = "\(day) \(Self.months[month - 1])"
            return year.map { "\(date) \($0) \(clock)" } ?? "\(date) \(clock)"
        }
    }

    private func clock(_ instant: Date) -> String { calendar.clock(instant, Self.seasons) }

    private func stretch(_ start: Date, _ end: Date) -> String {
        guard calendar.isSameDay(start, end) else { return "\(time(start))–\(time(end))" }
        return time(start, clock: calendar.clocks(start, end, Self.seasons))
    }

    /// Without its day when that is the start's.
    private func endTime(_ end: Date, after start: Date) -> String {
        calendar.isSameDay(start, end) ? clock(end) : time(end)
    }

    private func days(_ mask: DayMask) -> String {
        if mask.isEveryDay { return "varje dag" }
        if mask == .weekdays { return "på vardagar" }
        if mask == .weekends { return "på helger" }
        let names = mask.weekdays.map { Self.shortWeekdays[$0] }
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return "\(names.dropLast().joined(separator: ", ")) och \(last)"
    }

    private func number(_ value: Double, _ decimals: Int) -> String {
        Numeral.text(value, decimals: decimals, mark: ",")
    }

    private func hours(_ value: Double) -> String {
        number(value, value == value.rounded() ? 0 : 2)
    }

    private func kilowatts(_ watts: Double) -> String { number(watts / 1_000, 1) }

    static let seasons = HouseholdCalendar.Seasons(summer: "sommartid", winter: "vintertid")
    static let weekdays = ["måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag", "söndag"]
    static let shortWeekdays = ["mån", "tis", "ons", "tors", "fre", "lör", "sön"]
    static let months = [
        "jan", "feb", "mars", "apr", "maj", "juni", "juli", "aug", "sep", "okt", "nov", "dec",
    ]
}
