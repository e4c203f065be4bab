import EnergyModel
import MQTTTypes

/// What there is of each loadpoint and the car on it.
///
/// A member must not be called `set` or `adjust`: mirrored, it would be a command topic.
extension TopicTree {
    static let carTable = [
        state(
            .carState, .document(carStateMembers),
            LocalText("A charging point and the car on it.", "En laddpunkt och bilen på den."),
            expiry: 3_600, occasion: renewed),
        state(
            .carLevel, .document(carLevelMembers),
            LocalText(
                "How full the car is, who says so, and since when.",
                "Hur full bilen är, vem som säger det och sedan när."),
            expiry: 3_600, occasion: renewed),
        state(
            .carControl, .plain(Sentence.Intention.allCases.map(\.rawValue) + ["unknown"]),
            LocalText(
                "What decides over the charging, as the box holds it.",
                "Vad som styr laddningen, så som boxen har det.")),
        state(
            .carHold, .document(carHoldMembers),
            LocalText(
                "A person's order to charge now or to pause, and how the charger takes it.",
                "En persons order att ladda nu eller pausa, och hur laddaren följer den.")),
        state(
            .carGoal, .document(carGoalMembers),
            LocalText("What should be true by when.", "Vad som ska gälla när.")),
        state(
            .carReady, .document(carReadyMembers),
            LocalText("Whether the car will be ready.", "Om bilen hinner bli klar.")),
        state(
            .carTextEn, .document(carTextMembers),
            LocalText("The same in English sentences.", "Detsamma i meningar på engelska.")),
        state(
            .carTextSv, .document(carTextMembers),
            LocalText("The same in Swedish sentences.", "Detsamma i meningar på svenska.")),
    ]

    private static let renewed = LocalText(
        "on change, each 20 min while live", "vid ändring, var 20:e min när det är färskt")

    private static let live = member("live", .flag, "false: an old picture", "false: en gammal bild")

    private static let carStateMembers = [
        member("name", .text, "as typed on the box", "som det skrevs på boxen"),
        member("car_name", .text, "what the box calls the car", "vad boxen kallar bilen"),
        member("plugged_in", .flag, "the cable is in", "kabeln sitter i"),
        member("charging", .flag, "more than 100 W flow", "mer än 100 W flödar"),
        member("activity", .token(ChargingState.tokens), "what is going on", "vad som pågår"),
        member("power", .number(unit: "W"), "into the car", "in i bilen"),
        member(
            "session_kwh", .number(unit: "kWh"), "since the cable went in; never steps back a little",
            "sedan kabeln sattes i; backar aldrig lite grann"),
        member("min_power", .number(unit: "W"), "least charging power", "lägsta laddeffekt"),
        member("max_power", .number(unit: "W"), "most charging power", "högsta laddeffekt"),
        member("full_power", .number(unit: "W"), "power of charge now", "effekten vid ladda nu"),
        member("phases", .number(unit: ""), "phases in use, 1 or 3", "faser i bruk, 1 eller 3"),
        member("surplus_only", .flag, "charges from spare sun only", "laddar bara av solöverskott"),
        member("boost", .flag, "the home battery helps", "hemmabatteriet hjälper till"),
        member("at", .time, "when the box last said it", "när boxen senast sade det", dating: true), live,
    ]

    private static let carLevelMembers = [
        member("level", .number(unit: "%"), "state of charge", "laddningsnivå"),
        member(
            "origin", .token(CarLevel.Origin.allCases.map(\.rawValue)), "who says so", "vem som säger det"),
        member(
            "at", .time, "when it was true; `null` for FTW's own numbers",
            "när det gällde; `null` för FTW:s egna tal", dating: true),
        member(
            "outdated", .flag, "older than five minutes, or nobody answers",
            "äldre än fem minuter, eller ingen svarar"),
        member("unplugged", .flag, "no car, so no level", "ingen bil, alltså ingen nivå"),
        member("plan_level", .number(unit: "%"), "what the plan counts from", "vad planen räknar från"),
        member(
            "person_level", .number(unit: "%"), "what a person entered and still counts",
            "vad en person angav och som ännu gäller"),
        member("person_at", .time, "when that was", "när det var"),
        member("needs_real_level", .flag, "somebody should enter it", "någon bör ange den"),
        member("unconfirmed", .flag, "may be the box's assumption", "kan vara boxens antagande"),
        member("car_limit", .number(unit: "%"), "the car's own limit", "bilens egen gräns"), live,
    ]

    private static let carHoldMembers = [
        member(
            "kind", .token(["none", "charge_now", "paused", "needs_choice"]), "what was ordered",
            "vad som beordrades"),
        member("power", .number(unit: "W"), "power that was asked for", "begärd effekt"),
        member(
            "charger", .token(Loadpoint.ManualAccount.State.allCases.map(\.rawValue)),
            "how the charger takes it", "hur laddaren följer den"),
        member("limited_by", .text, "what holds it back", "vad som bromsar"),
        member(
            "asked_by", .text,
            "`from` of the command, else `bridge`; `elsewhere`: the app or the box's page; `box`",
            "kommandots `from`, annars `bridge`; `elsewhere`: appen eller boxens sida; `box`"),
        member("since", .time, "when it began", "när det började"),
        member("until", .time, "when it ends", "när det slutar"),
        member("until_level", .number(unit: "%"), "or at this level", "eller vid denna nivå"),
        member("at", .time, "when the box last said it", "när boxen senast sade det", dating: true), live,
    ]

    private static let carGoalMembers = [
        member("active", .flag, "there is a goal", "det finns ett mål"),
        member("level", .number(unit: "%"), "to be reached", "att nå"),
        member("by", .text, "household clock, `07:00`", "hushållets klocka, `07:00`"),
        member("days", .list, "`mon` to `sun`; `null` when once", "`mon` till `sun`; `null` vid en gång"),
        member("once", .flag, "for one time only", "bara en gång"),
        member("car_decides", .flag, "until the car stops by itself", "tills bilen själv slutar"),
        member("spent", .flag, "for once, and past", "för en gång, och förbi"),
        member("next_deadline", .time, "the next time it counts", "nästa gång det gäller"),
        member("zone", .text, "zone of `by`", "tidszon för `by`"),
        member(
            "home_time", .flag, "the zone is our configuration, not the box's word",
            "tidszonen är vår inställning, inte boxens ord"),
        member("at", .time, "when the box last said it", "när boxen senast sade det", dating: true), live,
    ]

    private static let carReadyMembers = [
        member("state", .token(Readiness.State.allCases.map(\.rawValue)), "the answer", "svaret"),
        member(
            "reason", .token(Readiness.Reason.allCases.map(\.rawValue)), "why nothing is said",
            "varför inget sägs"),
        member("goal", .number(unit: "%"), "what is asked for", "vad som begärs"),
        member("expected", .number(unit: "%"), "level at the deadline", "nivå när det ska vara klart"),
        member("shortfall_wh", .number(unit: "Wh"), "missing in the car then", "vad som fattas i bilen då"),
        member("by", .time, "the deadline", "när det ska vara klart"),
        member(
            "assumed_from", .number(unit: "%"), "the guess all of this builds on",
            "gissningen som allt bygger på"),
        member("size_guessed", .flag, "the battery's size is a guess", "batteristorleken är en gissning"),
        member("charging_start", .time, "of the next or running window", "för nästa eller pågående fönster"),
        member("charging_end", .time, "of the same", "för samma"),
        member(
            "windows", .list, "every window: `start`, `end`, `energy_wh`",
            "alla fönster: `start`, `end`, `energy_wh`"),
        member("planned_at", .time, "when the plan was made", "när planen gjordes"), live,
    ]

    private static let carTextMembers = [
        member("level", .text, "the car's level", "bilens nivå"),
        member("goal", .text, "the goal", "målet"),
        member("readiness", .text, "whether it will be ready", "om den hinner"),
        member("charging", .text, "what is going on", "vad som pågår"),
        member(
            "receipt", .text, "how the last command ended; for a day",
            "hur det senaste kommandot slutade; i ett dygn"),
        member(
            "spoken", .text, "level, what is going on and readiness, for the ear",
            "nivå, vad som pågår och om den hinner, för örat"),
    ]
}
