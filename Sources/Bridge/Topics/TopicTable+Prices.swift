import EnergyModel
import MQTTTypes

/// Prices, plan and energy.
extension TopicTree {
    static let priceTable = [
        state(
            .priceNow, .document(priceNowMembers),
            LocalText(
                "What energy costs now, in main units per kWh. Negative is negative.",
                "Vad energi kostar nu, i hela kronor (euro …) per kWh. Negativt är negativt."),
            expiresWith: "end",
            occasion: LocalText("at the slot's edge", "när priset byts")),
        state(
            .priceSeries, .document(priceSeriesMembers),
            LocalText(
                "Today's and tomorrow's prices on an even grid, at most 8 kB.",
                "Dagens och morgondagens priser i jämna steg, högst 8 kB."),
            qos: .atMostOnce,
            occasion: LocalText("when prices are published, at midnight", "när priser kommer, vid midnatt")),
        state(
            .cheapest, .document(cheapestMembers),
            LocalText(
                "The cheapest unbroken `<n>` hours of the next 24 hours, or the ones that are running.",
                "De billigaste sammanhängande `<n>` timmarna under de närmaste 24, eller de som pågår."),
            expiresWith: "end"),
        state(
            .cheapNow, .plain(["ON", "OFF", "null"]),
            LocalText(
                "Whether it is cheap now, by `prices.cheap_now`; `null` when no price is known.",
                "Om det är billigt nu, enligt `prices.cheap_now`; `null` när inget pris är känt."),
            expiry: 3_600,
            occasion: LocalText(
                "at edges of slots and windows, renewed each 20 min",
                "när pris eller fönster byts, förnyas var 20:e min")),
        state(
            .planNow, .document(planNowMembers),
            LocalText(
                "What the box means to do now. All `null` once the plan is older than an hour.",
                "Vad boxen tänker göra nu. Allt `null` när planen är äldre än en timme."),
            expiry: 3_600, occasion: LocalText("on change, each 20 min", "vid ändring, var 20:e min")),
        state(
            .planSeries, .document(planSeriesMembers),
            LocalText(
                "The plan for 24 hours in quarters, at most 8 kB.",
                "Planen för 24 timmar i kvartar, högst 8 kB."),
            qos: .atMostOnce, occasion: LocalText("each quarter", "varje kvart")),
        state(
            .energy, .document(energyMembers),
            LocalText(
                "Energy since counting began, never falling, and today's. Five minutes count ten minutes "
                    + "after they end: the last 15 of a day reach the totals, but not `today_…`.",
                "Energi sedan räkningens början, aldrig fallande, och dagens. Fem minuter räknas tio "
                    + "minuter efter sitt slut: dygnets sista 15 når totalerna men inte `today_…`."),
            occasion: LocalText("each 5 min", "var 5:e min")),
    ]

    /// Prices have the currency of the household, named in `unit`.
    private static let perKWh = "SEK/kWh …"

    private static let currencyMembers = [
        member("currency", .text, "ISO 4217", "ISO 4217"),
        member("unit", .text, "of every price here, such as `SEK/kWh`", "för alla priser här, som `SEK/kWh`"),
        member("area", .text, "the price area", "elområdet"),
    ]

    private static let priceNowMembers =
        [
            member("total", .number(unit: perKWh), "what the household pays", "vad hushållet betalar"),
            member("spot", .number(unit: perKWh), "the exchange's price", "börspriset"),
            member("start", .time, "since when", "sedan när"),
            member("end", .time, "the moment of change", "när det ändras"),
            member(
                "level", .number(unit: ""), "1 (cheap) to 8 within 24 h", "1 (billigt) till 8 inom 24 h"),
            member("next", .number(unit: perKWh), "the total that follows", "totalpriset efter detta"),
            member("next_end", .time, "until when that holds", "hur länge det gäller"),
        ] + currencyMembers

    private static let priceSeriesMembers =
        [
            member("start", .time, "of the first value: midnight", "första värdets början: midnatt"),
            member("step_s", .number(unit: "s"), "from value to value", "mellan värdena"),
            member("total", .list, "what the household pays", "vad hushållet betalar"),
            member("spot", .list, "the exchange's price", "börspriset"),
            member("until", .time, "the last published price ends", "sista kända prisets slut"),
            member("tomorrow_known", .flag, "tomorrow is published", "morgondagen är känd"),
            member(
                "stale", .flag, "something of the rest of today is missing, or the last question failed",
                "något av resten av dagen saknas, eller den senaste frågan misslyckades"),
            member("holes", .list, "missing in between: `start`, `end`", "luckor: `start`, `end`"),
        ] + currencyMembers

    private static let cheapestMembers = [
        member("hours", .number(unit: "h"), "how long", "hur länge"),
        member(
            "start", .time, "when it begins; may move until then", "när det börjar; kan flyttas till dess"),
        member("end", .time, "when it ends", "när det slutar"),
        member("average", .number(unit: perKWh), "mean of the total", "medel av totalpriset"),
        member("unit", .text, "of the average", "för medelvärdet"),
        member("running", .flag, "it has begun", "det har börjat"),
        member("prices_until", .time, "prices are known up to here", "priser är kända hit"),
        member(
            "known_hours", .number(unit: "h"), "the longest stretch with prices, when too short",
            "den längsta tiden med priser, när den är för kort"
        ),
        member("sentence", .text, "the same for people", "detsamma för människor"),
    ]

    private static let planNowMembers = [
        member(
            "action", .token(PlanStep.allCases.map(\.rawValue)), "what the battery does",
            "vad batteriet gör"),
        member("power", .number(unit: "W"), "its planned power", "dess planerade effekt"),
        member("until", .time, "when that ends", "när det slutar"),
        member("reason", .text, "in the box's words", "med boxens ord"),
        member("planned_at", .time, "when the plan was made", "när planen gjordes"),
        member("stale", .flag, "older than 30 min, or void", "äldre än 30 min, eller ogiltig"),
        member("enabled", .flag, "the planner runs", "planeraren är på"),
        member("sentence", .text, "the same for people", "detsamma för människor"),
    ]

    private static let planSeriesMembers = [
        member("start", .time, "of the first value: this quarter", "första värdets början: denna kvart"),
        member("step_s", .number(unit: "s"), "from value to value", "mellan värdena"),
        member("action", .list, "`stores`, `gives`, `waits`", "`stores`, `gives`, `waits`"),
        member("battery", .list, "W, charging positive", "W, laddning positiv"),
        member("grid", .list, "W, import positive", "W, köp positivt"),
        member("car", .list, "W, all cars", "W, alla bilar"),
        member("solar", .list, "W, never positive; forecast", "W, aldrig positiv; prognos"),
        member("level", .list, "% of the home battery", "% i hemmabatteriet"),
        member("deadlines", .list, "cars to be ready: `loadpoint`, `at`", "bilar: `loadpoint`, `at`"),
        member("planned_at", .time, "when the plan was made", "när planen gjordes"),
        member("stale", .flag, "older than 30 min, or void", "äldre än 30 min, eller ogiltig"),
    ]

    private static let energyMembers =
        [
            member("since", .time, "counting began", "räkningens början"),
            member("import", .number(unit: "kWh"), "bought", "köpt"),
            member("export", .number(unit: "kWh"), "sold", "sålt"),
            member("solar", .number(unit: "kWh"), "produced", "producerat"),
            member("battery_in", .number(unit: "kWh"), "into the home battery", "in i hemmabatteriet"),
            member("battery_out", .number(unit: "kWh"), "out of it", "ut ur det"),
            member("house", .number(unit: "kWh"), "used by the house", "använt av huset"),
            member("car", .number(unit: "kWh"), "into cars", "till bilar"),
            member("car_out", .number(unit: "kWh"), "out of cars", "från bilar"),
            member("day", .text, "the household's date of `today_…`", "hushållets datum för `today_…`"),
        ]
        + SiteDocuments.energyMembers.map { flow in
            member(
                "today_\(flow.name)", .number(unit: "kWh"), "the same, from midnight to `counted_until`",
                "detsamma, från midnatt till `counted_until`")
        } + [
            member("counted_until", .time, "what is counted", "vad som är räknat", dating: true)
        ]
}
