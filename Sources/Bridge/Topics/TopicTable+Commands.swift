import EnergyModel
import MQTTTypes

/// What can be asked for, and how it ended.
extension TopicTree {
    static let commandTable = [
        state(
            .siteTakes, .document(siteTakesMembers),
            LocalText(
                "Which commands to the site the box would take from us now.",
                "Vilka kommandon till anläggningen som boxen skulle ta emot från oss nu.")),
        state(
            .carTakes, .document(carTakesMembers),
            LocalText(
                "Which commands to this charging point the box would take from us now, with a car there.",
                "Vilka kommandon till laddpunkten som boxen skulle ta emot från oss nu, med en bil där.")),
        state(
            .carCommands, presence,
            LocalText(
                "Whether the box takes commands for this charging point from us.",
                "Om boxen tar emot kommandon för laddpunkten från oss.")),
        state(
            .carLastCommand, .document(resultMembers),
            LocalText("How the last command ended.", "Hur det senaste kommandot slutade."), expiry: 86_400),
        request(
            .carLevelSet,
            LocalText(
                "How full the car is, in percent: `62`, `62 %`. While the car itself says it, its word stands "
                    + "and the command ends superseded.",
                "Hur full bilen är, i procent: `62`, `62 %`. Medan bilen själv säger det gäller dess ord, "
                    + "och kommandot slutar som superseded.")),
        request(
            .carLevelAdjust,
            LocalText(
                "A step in percentage points from the newest level asked for: `+5`, `-5`; to whole percents, "
                    + "and never past 0 or 100.",
                "Ett steg i procentenheter från den senast begärda nivån: `+5`, `-5`; till hela procent, och "
                    + "aldrig förbi 0 eller 100.")),
        request(
            .carControlSet,
            LocalText(
                "`charge_now`, `pause` or `plan`; `charge_now` takes `power`, `minutes` or `until`.",
                "`charge_now`, `pause` eller `plan`; `charge_now` tar `power`, `minutes` eller `until`.")),
        request(
            .carGoalSet,
            LocalText(
                "`80 % 07:00 weekdays`, any of `level`, `by`, `days`, `once`, or `clear`.",
                "`80 % 07:00 vardagar`, något av `level`, `by`, `days`, `once`, eller `clear`.")),
        request(
            .carSurplusOnlySet,
            LocalText(
                "`ON` or `OFF`: charge from spare sun only.", "`ON` eller `OFF`: ladda bara av solöverskott.")
        ),
        request(
            .carBoostSet,
            LocalText(
                "`ON`, `OFF` or minutes: the home battery helps; takes `minutes`, `min_battery`.",
                "`ON`, `OFF` eller minuter: hemmabatteriet hjälper; tar `minutes`, `min_battery`.")),
        request(
            .modeSet,
            LocalText("A mode by the box's key or its label.", "Ett läge med boxens nyckel eller dess namn.")),
    ]

    private static let siteTakesMembers = [
        member("mode", .flag, "`mode/set`", "`mode/set`")
    ]

    /// One for each command; what this version of the box lacks is `false`.
    private static let carTakesMembers = [
        member("level", .flag, "`level/set`, `level/adjust`", "`level/set`, `level/adjust`"),
        member("control", .flag, "`control/set`", "`control/set`"),
        member("goal", .flag, "`goal/set`", "`goal/set`"),
        member("surplus_only", .flag, "`surplus_only/set`", "`surplus_only/set`"),
        member("boost", .flag, "`boost/set`", "`boost/set`"),
    ]

    /// What a command adds to a state's topic.
    private static let verbs: [TopicName: [String]] = [
        .carLevel: ["set", "adjust"], .carControl: ["set"], .carGoal: ["set"], .mode: ["set"],
    ]

    static func withCommands(_ rows: [TopicSpec]) -> [TopicSpec] {
        rows.map { row in
            var row = row
            row.commands = verbs[row.name] ?? []
            return row
        }
    }
}
