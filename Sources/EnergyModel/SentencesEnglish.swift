import FoundationEssentials

/// The bridge's English.
struct English {
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
                ? "Below zero: \(number(perKWh, 2)) \(unit) until \(time(until))."
                : "\(number(perKWh, 2)) \(unit) until \(time(until))."
        case .cheapest(let hours, let start, let end, let isRunning):
            "The cheapest \(hours) h run "
                + (isRunning
                    ? "until \(time(end))." : "from \(time(start)) to \(endTime(end, after: start)).")
        case .noCheapest(let asked, let known):
            "Prices are known for at most \(hours(known)) h in a row; \(hours(asked)) h are needed."
        case .planStep(let step, let batteryW):
            switch step {
            case .stores: "Storing, \(kilowatts(batteryW)) kW."
            case .gives: "Giving, \(kilowatts(batteryW)) kW."
            case .waits: "Waiting."
            }
        case .planned(let at): "Planned \(self.at(at))."
        }
    }

    private func level(_ level: CarLevel) -> String {
        if level.isUnplugged {
            guard level.outdated else { return "No car is plugged in." }
            return level.at.map { "No car was plugged in \(at($0)); nothing newer is known." }
                ?? "No car was plugged in; nothing newer is known."
        }
        guard let soc = level.soc else { return "The car's level is not known." }
        let n = Numeral.percent(soc)
        switch (level.origin, level.outdated) {
        case (.car, false): return "Battery \(n) %, the car says so."
        case (.car, true), (.carOld, _):
            return level.at.map { "Battery \(n) %, the car's last word \(at($0))." }
                ?? "Battery \(n) % when the car last answered."
        case (.unknown, _): return "The car's level is not known."
        case (.assumed, false): return "FTW guesses \(n) %. Enter the real level."
        case (.assumed, true):
            return level.at.map { "FTW guessed \(n) % \(at($0)); nothing newer is known." }
                ?? "FTW guessed \(n) %; nothing newer is known."
        case (.person, true), (.estimated, true):
            guard level.origin == .estimated, let when = level.at else {
                return "About \(n) % when the box last answered; nothing newer is known."
            }
            return "About \(n) % \(at(when)); nothing newer is known."
        case (.person, false):
            guard let person = level.person else { return "About \(n) %, as entered." }
            return
                "About \(n) %, counted from the \(Numeral.percent(person.soc)) % entered \(at(person.at))."
        case (.estimated, false):
            return level.isUnconfirmed
                ? "About \(n) %, FTW's calculation that nobody has confirmed."
                : "About \(n) %, FTW's calculation."
        }
    }

    private func goal(_ goal: Goal?) -> String {
        guard let goal else { return "No charging goal is set." }
        if goal.isSpent { return "The goal for one time has passed." }
        let home = goal.zone.isHomeTime ? " (home time)" : ""
        let what =
            goal.finishesAtVehicleLimit
            ? "Charges until the car is satisfied, by" : "Goal: \(Numeral.percent(goal.soc ?? 1)) % by"
        guard goal.recurring else {
            let by = goal.nextDeadline.map(time) ?? clockText(minute: goal.minuteOfDay)
            return "\(what) \(by)\(home), this time only."
        }
        let clock = clockText(minute: goal.minuteOfDay)
        let days = goal.days.map { ", \(self.days($0))" } ?? ""
        guard calendar.shifts(goal), let next = goal.nextDeadline else {
            return "\(what) \(clock)\(home)\(days)."
        }
        return "\(what) \(clock)\(home)\(days). Next time: \(time(next))."
    }

    private func readiness(_ ready: Readiness) -> String {
        switch (ready.state, ready.reason) {
        case (.noGoal, _): return "No charging goal is set."
        case (.replanning, _): return "A new plan is being made."
        case (_, .prices):
            return "Tomorrow's prices are not out yet; sun may charge the car meanwhile."
        case (.onTrack, _), (.late, _): break
        default: return ""
        }
        guard let by = ready.by, let goal = ready.goalSoc else { return "" }
        var sentences: [String] = []
        if ready.state == .late, let expected = ready.expectedSoc {
            let (e, g) = (Numeral.percent(expected), Numeral.percent(goal))
            sentences.append("It falls short: about \(e) % by \(time(by)) instead of \(g) %.")
        } else {
            sentences.append("It will make \(Numeral.percent(goal)) % by \(time(by)).")
        }
        if let guess = ready.assumedFrom {
            sentences.append("This builds on FTW's guess of \(Numeral.percent(guess)) %.")
        }
        if ready.isCapacityGuessed { sentences.append("The battery size is a guess.") }
        return sentences.joined(separator: " ")
    }

    private func charging(_ state: ChargingState) -> String {
        switch state {
        case .unplugged: "No car is plugged in."
        case .charging(let powerW): "Charging with \(kilowatts(powerW)) kW."
        case .heldCharging(let powerW): "Charge now is on, charging with \(kilowatts(powerW)) kW."
        case .heldWaiting: "Charge now is on; the car is not drawing yet."
        case .heldLimited(.fuse): "Charge now is on, held back by the main fuse."
        case .heldLimited(.fuseCooldown): "Charge now is on, held back while the main fuse recovers."
        case .heldLimited(.meter): "Charge now is on, held back because the house meter is silent."
        case .heldLimited(.charger): "Charge now is on, held back by the charger's own limit."
        case .heldLimited(.other): "Charge now is on, but held back."
        case .paused: "Charging is paused until someone resumes it."
        case .needsChoice: "After a restart FTW waits for a choice: charge now or the plan."
        case .declined: "The car turned power down. It may have its own limit."
        case .waiting(let window):
            window.start <= calendar.now
                ? "Charging is planned until \(time(window.end))."
                : "Next charging \(stretch(window.start, window.end))."
        case .idle: "Plugged in; no charging is planned."
        case .unknown: "The charger does not answer."
        }
    }

    private func control(
        _ answer: Control.Answer, _ blockedBy: NameList, _ quiet: NameList, _ lastWord: Date?
    ) -> String {
        switch answer {
        case .yes: return "FTW is running the house."
        case .partly: return "FTW is running, but does not hear \(names(quiet))."
        case .no:
            return blockedBy.isPlural
                ? "FTW has stopped steering: \(names(blockedBy)) are silent."
                : "FTW has stopped steering: \(names(blockedBy)) is silent."
        case .unknown:
            return lastWord.map { "No word from the box since \(time($0))." } ?? "No word from the box yet."
        }
    }

    private func names(_ list: NameList) -> String { list.joined(and: "and", more: "more") }

    private func link(_ link: Link) -> String {
        switch link.state {
        case .live: return "Connected to the box."
        case .readonly: return "Connected to the box; this bridge may only look."
        case .floor: return "Connected, but box and bridge share only the basics. Update the older one."
        case .revoked: return "The box removed this bridge; pair again."
        case .unpaired:
            switch link.reason {
            case .codeRefused, .pairingUnreadable: break
            default: return "Not paired with a box yet."
            }
        case .booting:
            return link.bootPercent.map { "The box is starting, \($0) % done." } ?? "The box is starting."
        case .connecting, .waitingForBox, .lost: break
        }
        switch link.reason {
        case .relayUnreachable: return "The relay cannot be reached. Trying again."
        case .relayUnknownAuthority:
            return
                "The relay's certificate was signed by an unknown authority; a private relay needs its ca_file."
        case .relayWrongHost:
            return "The relay's certificate is for another host name; use the name it was made for."
        case .relayCertificate: return "The encrypted connection to the relay failed."
        case .relayBusy: return "The relay has no room just now. Trying again."
        case .clockWrong: return "The clock of this machine is wrong. Set it, and the link comes back."
        case .boxAway: return "The box is not there. Is it switched on and online?"
        case .handshakeUnanswered: return "The box is there but does not answer this bridge."
        case .codeRefused: return "The pairing code was not accepted. Make a new one in the FTW app."
        case .pairingUnreadable:
            return "The pairing is there but cannot be read; ftw-mqtt check says what to do."
        case .evicted: return "Other apps keep taking this bridge's place. Waiting a while."
        case .silent: return "The box has gone silent. Trying again."
        case .boxGone: return "The box went away. Trying again."
        case .revoked: return "The box removed this bridge; pair again."
        case .stopped: return "The bridge was stopped."
        case nil: break
        }
        switch link.state {
        case .connecting: return "Connecting to the relay."
        case .waitingForBox: return "Waiting for the box."
        default: return "The connection to the box was lost. Trying again."
        }
    }

    private func receipt(_ receipt: Sentence.Receipt) -> String {
        switch receipt {
        case .sent: "Sent."
        case .received: "The box has it."
        case .done: "Done."
        case .overtaken(let value): "The box kept another value: \(self.value(value))."
        case .unsure: "Taken by the box, outcome not known."
        case .replaced: "Replaced by a later request."
        }
    }

    private func value(_ value: Sentence.Value) -> String {
        switch value {
        case .level(let soc): "\(Numeral.percent(soc)) %"
        case .power(let watts): "\(kilowatts(watts)) kW"
        case .on(let isOn): isOn ? "on" : "off"
        case .control(.plan): "the plan"
        case .control(.chargeNow): "charge now"
        case .control(.paused): "paused"
        case .plain(let text): String(text.prefix(100))
        }
    }

    private func refused(_ refusal: Sentence.Refusal) -> String {
        switch refusal {
        case .badPayload: "Not done: the request could not be understood."
        case .unknownCommand: "Not done: there is no such command."
        case .outOfRange: "Not done: the box does not take that value."
        case .retained: "Not done: a retained message is no command. Send it without retain."
        case .expired: "Not done: the request was too old."
        case .busy: "Not done: the box is busy. Try again."
        case .rateLimited: "Not done: too many requests. Wait a minute."
        case .readOnly: "Not done: this bridge may only look."
        case .notPluggedIn: "Not done: plug the car in first."
        case .noCharger: "Not done: the box has no such charger."
        case .boxUnreachable: "Not delivered: the box cannot be reached."
        case .noAnswer: "Not delivered."
        case .dispatchBlocked: "Not done: the house meter is silent."
        case .notAllowed: "Not done: only an owner may do this."
        case .needsConsent:
            "Not done: this box wants the owner's consent. Give it with commands.goal_consent: true, or "
                + "confirm in the FTW app."
        case .conflict: "Not done: something changed meanwhile. Try again."
        case .precondition: "Not done: it does not fit what the box is doing now."
        case .unsupported: "Not done: this box cannot do it yet."
        case .unavailable: "Not done: the box cannot do it right now."
        case .starting: "Not done: the box is still starting."
        }
    }

    // MARK: Times and numbers

    /// `07:00`, `tomorrow 07:00`, `Monday 07:00`, `2 Nov 07:00`.
    private func time(_ instant: Date) -> String { time(instant, clock: clock(instant)) }

    private func time(_ instant: Date, clock: String) -> String {
        switch calendar.day(of: instant) {
        case .today: return clock
        case .tomorrow: return "tomorrow \(clock)"
        case .yesterday: return "yesterday \(clock)"
        case .weekday(let weekday): return "\(Self.weekdays[weekday]) \(clock)"
        case .date(let day, let month, let year): return "\(date(day, month, year)) \(clock)"
        }
    }

    /// The same after a noun: `at 07:00`, `yesterday at 07:00`, `on 2 Nov at 07:00`.
    private func at(_ instant: Date) -> String {
        let clock = self.clock(instant)
        switch calendar.day(of: instant) {
        case .today: return "at \(clock)"
        case .tomorrow: return "tomorrow at \(clock)"
        case .yesterday: return "yesterday at \(clock)"
        case .weekday(let weekday): return "on \(Self.weekdays[weekday]) at \(clock)"
        case .date(let day, let month, let year): return "on \(date(day, month, year)) at \(clock)"
        }
    }

    private func date(_ day: Int, _ month: Int, _ year: Int?) -> String {
        let name = Self.months[month - 1]
        return year.map { "\(day) \(name) \($0)" } ?? "\(day) \(name)"
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
        if mask.isEveryDay { return "every day" }
        if mask == .weekdays { return "on weekdays" }
        if mask == .weekends { return "on weekends" }
        let names = mask.weekdays.map { Self.shortWeekdays[$0] }
        guard let last = names.last, names.count > 1 else { return "on \(names.first ?? "")" }
        return "on \(names.dropLast().joined(separator: ", ")) and \(last)"
    }

    private func number(_ value: Double, _ decimals: Int) -> String {
        Numeral.text(value, decimals: decimals, mark: ".")
    }

    private func hours(_ value: Double) -> String {
        number(value, value == value.rounded() ? 0 : 2)
    }

    private func kilowatts(_ watts: Double) -> String { number(watts / 1_000, 1) }

    static let seasons = HouseholdCalendar.Seasons(summer: "summer time", winter: "winter time")
    static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    static let shortWeekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
