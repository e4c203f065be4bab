import EnergyModel
import FoundationEssentials
import Testing

/// 09:05 on Saturday 24 October 2026 in Stockholm.
private let now = at(1_792_825_500)

@Suite struct SentenceTests {
    private func both(_ sentence: Sentence) throws -> [String] {
        let zone = try stockholm()
        return Language.allCases.map { sentence.text($0, zone: zone, now: now) }
    }

    @Test(
        arguments: [
            (Control.Answer.yes, [], [], "FTW is running the house.", "FTW styr huset."),
            (
                .partly, [], ["Solar"], "FTW is running, but does not hear Solar.",
                "FTW styr, men hör inte Solar."
            ),
            (
                .partly, [], ["A", "B"], "FTW is running, but does not hear A and B.",
                "FTW styr, men hör inte A och B."
            ),
            (
                .partly, [], ["A", "B", "C", "D", "E"],
                "FTW is running, but does not hear A, B, C and 2 more.",
                "FTW styr, men hör inte A, B, C och 2 till."
            ),
            (
                .no, ["Meter"], [], "FTW has stopped steering: Meter is silent.",
                "FTW har slutat styra: Meter är tyst."
            ),
            (
                .no, ["M", "N"], [], "FTW has stopped steering: M and N are silent.",
                "FTW har slutat styra: M och N är tysta."
            ),
        ] as [(Control.Answer, [String], [String], String, String)])
    func control(answer: Control.Answer, blocked: [String], quiet: [String], en: String, sv: String) throws {
        #expect(try both(.control(answer, blockedBy: blocked, quiet: quiet, lastWord: nil)) == [en, sv])
    }

    @Test func withoutAWordFromTheBoxNothingIsClaimed() throws {
        let never = Sentence.control(.unknown, blockedBy: [], quiet: [], lastWord: nil)
        #expect(try both(never) == ["No word from the box yet.", "Inget besked från boxen än."])
        let since = Sentence.control(.unknown, blockedBy: [], quiet: [], lastWord: at(1_792_782_300))
        #expect(
            try both(since)
                == [
                    "No word from the box since yesterday 21:05.",
                    "Inget besked från boxen sedan i går 21:05.",
                ])
    }

    @Test(arguments: [
        (31, "on weekdays", "på vardagar"), (96, "on weekends", "på helger"), (0, "every day", "varje dag"),
        (127, "every day", "varje dag"), (1, "on Mon", "mån"), (3, "on Mon and Tue", "mån och tis"),
        (21, "on Mon, Wed and Fri", "mån, ons och fre"), (64, "on Sun", "sön"),
    ])
    func daysHaveTheirWords(bits: Int, en: String, sv: String) throws {
        let goal = Goal(
            soc: 0.8, minuteOfDay: 420, recurring: true, days: DayMask(bits: bits), zone: try home())
        #expect(try both(.goal(goal)) == ["Goal: 80 % by 07:00, \(en).", "Mål: 80 % till 07:00, \(sv)."])
    }

    @Test func goals() throws {
        let home = try home()
        let away = HouseholdZone(boxZone: "Local", configured: try stockholm())
        func goal(_ change: (inout Goal) -> Void) -> Goal {
            var goal = Goal(
                soc: 0.8, minuteOfDay: 420, recurring: false, nextDeadline: at(1_792_908_000), zone: home)
            change(&goal)
            return goal
        }
        #expect(try both(.goal(nil)) == ["No charging goal is set.", "Inget laddmål är satt."])
        #expect(
            try both(.goal(goal { _ in }))
                == [
                    "Goal: 80 % by tomorrow 07:00, this time only.",
                    "Mål: 80 % till i morgon 07:00, bara denna gång.",
                ])
        #expect(
            try both(
                .goal(
                    goal {
                        $0.zone = away; $0.recurring = true
                    }))
                == [
                    "Goal: 80 % by 07:00 (home time), every day.",
                    "Mål: 80 % till 07:00 (tid hemma), varje dag.",
                ])
        #expect(
            try both(
                .goal(
                    goal {
                        $0.soc = nil; $0.finishesAtVehicleLimit = true
                    }))
                == [
                    "Charges until the car is satisfied, by tomorrow 07:00, this time only.",
                    "Laddar tills bilen är nöjd, till i morgon 07:00, bara denna gång.",
                ])
        #expect(
            try both(
                .goal(
                    goal {
                        $0.isSpent = true; $0.nextDeadline = nil
                    }))
                == ["The goal for one time has passed.", "Engångsmålet har passerat."])
        // A box that keeps UTC means 06:00 after the clocks went back.
        #expect(
            try both(
                .goal(
                    goal {
                        $0.recurring = true; $0.nextDeadline = at(1_792_904_400)
                    }))
                == [
                    "Goal: 80 % by 07:00, every day. Next time: tomorrow 06:00.",
                    "Mål: 80 % till 07:00, varje dag. Nästa gång: i morgon 06:00.",
                ])
    }

    @Test(arguments: [
        (1_792_828_800, "until 10:00.", "till 10:00."),
        (1_792_879_200, "until tomorrow 00:00.", "till i morgon 00:00."),
        (1_792_994_400, "until Monday 07:00.", "till måndag 07:00."),
        (1_793_253_600, "until Thursday 07:00.", "till torsdag 07:00."),
        (1_793_599_200, "until 2 Nov 07:00.", "till 2 nov 07:00."),
        (1_804_658_400, "until 10 Mar 2027 07:00.", "till 10 mars 2027 07:00."),
        (1_792_782_300, "until yesterday 21:05.", "till i går 21:05."),
    ])
    func daysAreNamedFromNow(second: Int, en: String, sv: String) throws {
        let price = Sentence.price(perKWh: 1.234, unit: "SEK/kWh", until: at(second))
        #expect(try both(price) == ["1.23 SEK/kWh \(en)", "1,23 SEK/kWh \(sv)"])
    }

    @Test(arguments: [
        (-0.05, "Below zero: −0.05", "Under noll: −0,05"),
        (-0.004, "Below zero: −0.004", "Under noll: −0,004"),
        (0.0, "0.00", "0,00"), (-1.999, "Below zero: −2.00", "Under noll: −2,00"), (12.345, "12.35", "12,35"),
        (0.0004, "0.0004", "0,0004"),
    ])
    func theSignOfAPriceIsNeverLost(value: Double, en: String, sv: String) throws {
        let price = Sentence.price(perKWh: value, unit: "SEK/kWh", until: at(1_792_828_800))
        #expect(try both(price) == ["\(en) SEK/kWh until 10:00.", "\(sv) SEK/kWh till 10:00."])
    }

    @Test(
        arguments: [
            (ChargingState.unplugged, "No car is plugged in.", "Ingen bil är inkopplad."),
            (.charging(powerW: 7_360), "Charging with 7.4 kW.", "Laddar med 7,4 kW."),
            (
                .heldWaiting, "Charge now is on; the car is not drawing yet.",
                "Ladda nu är på; bilen drar ingen ström än."
            ),
            (
                .heldLimited(.fuse), "Charge now is on, held back by the main fuse.",
                "Ladda nu är på men bromsas av huvudsäkringen."
            ),
            (
                .paused, "Charging is paused until someone resumes it.",
                "Laddningen är pausad tills någon startar den."
            ),
            (
                .needsChoice, "After a restart FTW waits for a choice: charge now or the plan.",
                "Efter en omstart väntar FTW på ett val: ladda nu eller planen."
            ),
            (
                .declined, "The car turned power down. It may have its own limit.",
                "Bilen tackade nej till ström. Den kan ha en egen gräns."
            ),
            (
                .waiting(ChargingWindow(start: at(1_792_882_800), end: at(1_792_897_200))),
                "Next charging tomorrow 01:00–04:00.", "Nästa laddning i morgon 01:00–04:00."
            ),
            (
                .waiting(ChargingWindow(start: at(1_792_875_600), end: at(1_792_886_400))),
                "Next charging 23:00–tomorrow 02:00 summer time.",
                "Nästa laddning 23:00–i morgon 02:00 sommartid."
            ),
        ] as [(ChargingState, String, String)])
    func charging(state: ChargingState, en: String, sv: String) throws {
        #expect(try both(.charging(state)) == [en, sv])
    }

    @Test(
        arguments: [
            (
                "\"plugged_in\":true,\"manual_active\":true,\"manual_charge_w\":11000,\"current_power_w\":0",
                ChargingState.heldWaiting
            ),
            (
                "\"plugged_in\":true,\"manual_active\":true,\"manual_charge_w\":11000,\"current_power_w\":101",
                .heldCharging(powerW: 101)
            ),
            (
                "\"plugged_in\":true,\"manual_active\":true,\"manual_charge_w\":9,\"manual\":{\"state\":\"limited\","
                    + "\"requested_w\":9,\"limit_reason\":\"charger_limit\"}", .heldLimited(.charger)
            ),
            (
                "\"plugged_in\":true,\"manual_active\":true,\"manual_charge_w\":9,\"manual\":{\"state\":\"limited\","
                    + "\"requested_w\":9,\"limit_reason\":\"moon\"}", .heldLimited(.other)
            ),
            ("\"plugged_in\":true,\"manual_active\":true", .paused),
            ("\"plugged_in\":true,\"manual_restore_unconfirmed\":true", .needsChoice),
            ("\"plugged_in\":true,\"manual_active\":false,\"current_power_w\":100", .idle),
            ("\"plugged_in\":true,\"current_power_w\":100.5", .charging(powerW: 100.5)),
            ("\"plugged_in\":true,\"charging_declined\":true", .declined),
            ("\"plugged_in\":true,\"current_power_w\":7000,\"power_unavailable\":true", .idle),
            ("\"plugged_in\":true,\"charger\":{\"available\":false}", .unknown), ("", .unknown),
            ("\"plugged_in\":false", .unplugged),
        ] as [(String, ChargingState)])
    func theChargingStateFollowsTheLoadpoint(fields: String, state: ChargingState) throws {
        #expect(ChargingState(try loadpoint(fields), isReachable: true, windows: [], now: now) == state)
    }

    @Test func everyStateAndReasonOfTheLinkHasItsSentence() throws {
        var seen: [Set<String>] = [[], []]
        for state in Link.State.allCases {
            for reason in [nil] + Link.Reason.allCases.map(Optional.some) {
                let texts = try both(.link(Link(state: state, since: now, reason: reason)))
                for (index, text) in texts.enumerated() {
                    #expect(text.last == "." || text.last == "?")
                    seen[index].insert(text)
                }
                #expect(texts[0] != texts[1])
            }
        }
        #expect(seen[0].count == seen[1].count)
        #expect(seen[0].count >= 19)
    }

    @Test(
        arguments: [
            (Link.State.connecting, nil, "Connecting to the relay.", "Ansluter till reläet."),
            (
                .revoked, .revoked, "The box removed this bridge; pair again.",
                "Boxen tog bort bryggan; para ihop igen."
            ),
            (.lost, .silent, "The box has gone silent. Trying again.", "Boxen har tystnat. Försöker igen."),
            (.unpaired, nil, "Not paired with a box yet.", "Inte parad med någon box än."),
            (.live, nil, "Connected to the box.", "Ansluten till boxen."),
        ] as [(Link.State, Link.Reason?, String, String)])
    func links(state: Link.State, reason: Link.Reason?, en: String, sv: String) throws {
        #expect(try both(.link(Link(state: state, since: now, reason: reason))) == [en, sv])
    }

    @Test func aStartingBoxTellsHowFarItIs() throws {
        let link = Link(state: .booting, since: now, bootPercent: 40)
        #expect(try both(.link(link)) == ["The box is starting, 40 % done.", "Boxen startar, 40 % klart."])
    }

    @Test func everyRefusalHasItsOwnSentence() throws {
        let all = Sentence.Refusal.allCases
        let texts = try all.map { try both(.refused($0)) }
        #expect(Set(texts.map { $0[0] }).count == all.count)
        #expect(Set(texts.map { $0[1] }).count == all.count)
        #expect(
            try both(.refused(.outOfRange))
                == ["Not done: the box does not take that value.", "Inte gjort: boxen tar inte det värdet."])
        #expect(
            try both(.refused(.notPluggedIn))
                == ["Not done: plug the car in first.", "Inte gjort: koppla in bilen först."])
    }

    @Test(
        arguments: [
            (Sentence.Receipt.sent, "Sent.", "Skickat."),
            (.received, "The box has it.", "Boxen har tagit emot."),
            (.done, "Done.", "Klart."),
            (
                .overtaken(.level(0.55)), "The box kept another value: 55 %.",
                "Boxen behöll ett annat värde: 55 %."
            ),
            (
                .overtaken(.power(watts: 4_140)), "The box kept another value: 4.1 kW.",
                "Boxen behöll ett annat värde: 4,1 kW."
            ),
            (.unsure, "Taken by the box, outcome not known.", "Mottaget av boxen, utfallet är okänt."),
            (.replaced, "Replaced by a later request.", "Ersatt av en senare begäran."),
        ] as [(Sentence.Receipt, String, String)])
    func receipts(receipt: Sentence.Receipt, en: String, sv: String) throws {
        #expect(try both(.receipt(receipt)) == [en, sv])
    }

    /// One spelling everywhere, and a time never stands without its preposition after a number.
    @Test func swedishIsOneLanguage() throws {
        let deadlines = [1_792_828_800, 1_792_908_000, 1_792_994_400, 1_793_599_200].map(at)
        for (index, word) in ["10:00", "i morgon 07:00", "måndag 07:00", "2 nov 07:00"].enumerated() {
            func said(_ state: Readiness.State) throws -> String {
                var ready = Readiness(state: state)
                (ready.by, ready.goalSoc, ready.expectedSoc) = (deadlines[index], 0.8, 0.62)
                return try both(.readiness(ready))[1]
            }
            #expect(try said(.onTrack) == "Den når 80 % till \(word).")
            #expect(try said(.late) == "Den hinner inte: ungefär 62 % till \(word) i stället för 80 %.")
        }
    }

    @Test func planAndPrices() throws {
        #expect(try both(.planStep(.gives, batteryW: -2_100)) == ["Giving, −2.1 kW.", "Ger, −2,1 kW."])
        #expect(try both(.planStep(.waits, batteryW: 20)) == ["Waiting.", "Väntar."])
        #expect(try both(.planned(at: at(1_792_824_000))) == ["Planned at 08:40.", "Planerat 08:40."])
    }

    @Test(arguments: ["🚗", "å", "e\u{301}", "n"])
    func noSentenceIsLongerThanHomeAssistantTakes(letter: String) throws {
        let name = String(repeating: letter, count: 500)
        let sentences: [Sentence] = [
            .control(.no, blockedBy: [name, name, name, name], quiet: [], lastWord: nil),
            .control(.partly, blockedBy: [], quiet: Array(repeating: name, count: 9), lastWord: nil),
            .receipt(.overtaken(.plain(name))), .price(perKWh: 1, unit: name, until: now),
        ]
        for sentence in sentences {
            for text in try both(sentence) { #expect(text.unicodeScalars.count <= Sentence.limit) }
        }
    }

    @Test func absurdNumbersAreSpokenWithoutATrap() throws {
        for value in [Double.nan, .infinity, -.infinity, 1e300, -1e300, 9.9e11] {
            _ = try both(.price(perKWh: value, unit: "SEK/kWh", until: now))
            _ = try both(.charging(.charging(powerW: value)))
            _ = try both(.level(CarLevel(soc: value, origin: .car)))
            _ = try both(.planned(at: Date(timeIntervalSince1970: value)))
        }
    }
}
