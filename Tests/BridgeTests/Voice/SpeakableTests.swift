import EnergyModel
import FoundationEssentials
import JSONText
import Testing

@testable import Bridge

@Suite struct SpeakableTests {
    @Test(arguments: [
        ("Battery 80 %, the car says so.", "Battery 80 percent, the car says so."),
        (
            "About 62 %, counted from the 60 % entered yesterday at 07:05.",
            "About 62 percent, counted from the 60 percent entered yesterday at 7:05 am."
        ),
        (
            "It falls short: about 55 % by tomorrow 07:00 instead of 80 %.",
            "It falls short: about 55 percent by tomorrow at 7 am instead of 80 percent."
        ),
        ("It will make 80 % by 00:00.", "It will make 80 percent by midnight."),
        ("Next charging 22:00–tomorrow 00:00.", "Next charging from 10 pm to midnight."),
        ("It will make 80 % by tomorrow 00:00.", "It will make 80 percent by midnight."),
        ("Last word yesterday at 00:00, Monday 00:00.", "Last word yesterday at midnight, Monday at 12 am."),
        ("Next charging 23:00–Tuesday 00:00.", "Next charging from 11 pm to Tuesday at 12 am."),
        ("Next charging 00:00–02:00.", "Next charging from 12 am to 2 am."),
        (
            "Goal: 80 % by 12:00, on Mon, Wed and Fri.",
            "Goal: 80 percent by noon, on Monday, Wednesday and Friday."
        ),
        ("Next charging 02:00–05:30.", "Next charging from 2 am to 5:30 am."),
        (
            "Next charging tomorrow 23:00–Tuesday 02:00.",
            "Next charging tomorrow from 11 pm to Tuesday at 2 am."
        ),
        (
            "Next charging 02:45 summer time–02:00 winter time.",
            "Next charging from 2:45 am summer time to 2 am winter time."
        ),
        ("Next charging 02:15–02:45 winter time.", "Next charging from 2:15 am to 2:45 am winter time."),
        (
            "It will make 80 % by tomorrow 02:30 summer time.",
            "It will make 80 percent by tomorrow at 2:30 am summer time."
        ),
        ("Charging with 7.4 kW.", "Charging with 7.4 kilowatts."),
        ("Charging is planned until 12:30.", "Charging is planned until 12:30 pm."),
        (
            "Battery 80 %, the car's last word on 2 Nov at 07:00.",
            "Battery 80 percent, the car's last word on 2 November at 7 am."
        ),
        (
            "Not done: found \"120%\"; a level is a number from 0 to 100 %, such as 62.",
            "Not done: found \"120 percent\"; a level is a number from 0 to 100 percent, such as 62."
        ),
        ("Cut off here…", "Cut off here"), ("", ""), ("–", "–"),
        ("% 07:00 99:99 –07:00", "percent at 7 am 99:99 –07:00"),
    ])
    func englishIsForTheEar(written: String, spoken: String) {
        #expect(Speakable(language: .en).text(written) == spoken)
    }

    @Test(arguments: [
        ("Batteriet 80 %, enligt bilen.", "Batteriet 80 procent, enligt bilen."),
        ("Den når 80 % till i morgon 07:00.", "Den når 80 procent till i morgon klockan 7."),
        ("Nästa laddning 02:00–05:30.", "Nästa laddning från klockan 2 till klockan 5:30."),
        ("Nästa laddning 23:00–i morgon 02:00.", "Nästa laddning från klockan 23 till i morgon klockan 2."),
        (
            "Nästa laddning i morgon 02:45 sommartid–02:00 vintertid.",
            "Nästa laddning i morgon från klockan 2:45 sommartid till klockan 2 vintertid."
        ),
        ("Nästa laddning 02:15–02:45 vintertid.", "Nästa laddning från klockan 2:15 till klockan 2:45 vintertid."),
        ("Den når 80 % till 02:30 sommartid.", "Den når 80 procent till klockan 2:30 sommartid."),
        ("Laddar med 7,4 kW.", "Laddar med 7,4 kilowatt."),
        (
            "Mål: 80 % till 07:00, mån, ons och fre.",
            "Mål: 80 procent till klockan 7, måndag, onsdag och fredag."
        ),
        (
            "Batteriet 80 %, bilens senaste besked 2 nov 17:30.",
            "Batteriet 80 procent, bilens senaste besked 2 november klockan 17:30."
        ),
        ("Nästa laddning 22:00–i morgon 00:00.", "Nästa laddning från klockan 22 till midnatt."),
        ("Den når 80 % till i morgon 00:00.", "Den når 80 procent till midnatt."),
        ("Nästa laddning i morgon 00:00.", "Nästa laddning vid midnatt."),
        ("Senast i går 00:00.", "Senast i går klockan 0."),
        ("Ungefär 62 %, FTW:s beräkning.", "Ungefär 62 procent, FTW:s beräkning."),
    ])
    func swedishIsForTheEar(written: String, spoken: String) {
        #expect(Speakable(language: .sv).text(written) == spoken)
    }

    /// Every situation of the table, in both languages: complete, short enough, and with
    /// nothing in it that a speech program spells out.
    @Test(arguments: Situation.all, Language.allCases)
    func everySituationCanBeHeard(situation: Situation, language: Language) throws {
        var bench = Bench(settings(language: language))
        bench.see(house().with(try situation.car()))
        bench.connect()
        let text = try #require(bench.json("car/garage/text/\(language.rawValue)"))
        let spoken = try #require(text["spoken"]?.stringValue)
        #expect((1...255).contains(spoken.unicodeScalars.count))
        for sign in ["%", "–", "kW", "…", "  "] { #expect(!spoken.contains(sign), "\(spoken)") }
        #expect(spoken.hasSuffix("."))
        // It begins with how full the car is, whatever else fits.
        let level = try #require(text["level"]?.stringValue)
        #expect(spoken.hasPrefix(Speakable(language: language).text(level)))
        for member in ["level", "goal", "readiness", "charging"] {
            #expect((text[member]?.stringValue ?? "").unicodeScalars.count <= 255)
        }
    }
}
