import EnergyModel
import FoundationEssentials
import Testing

/// 09:05 on Saturday 24 October 2026 in Stockholm.
let levelNow = at(1_792_825_500)

/// What the tracker has seen before the row.
enum Before: Sendable {
    case nothing
    /// A live car at that level, so many seconds ago.
    case car(percent: Int, ago: Int)
    /// A person's entry at 1,000 Wh of the session, so many seconds ago.
    case person(percent: Int, ago: Int)
    /// A live car, then a person.
    case carThenPerson(carAgo: Int, personAgo: Int)
    /// A good read with these members, so many seconds ago.
    case read(String, ago: Int)
}

struct LevelRow: Sendable, CustomTestStringConvertible {
    let name: String
    let fields: String
    var before = Before.nothing
    var isThisRun = true
    var isHealthy: Bool? = true
    /// How long ago the answer was made, in seconds.
    var readAgo = 0.0
    let origin: CarLevel.Origin
    let percent: Double?
    /// Seconds before now; `nil` = no time.
    let ago: Double?
    let outdated: Bool
    let en: String
    let sv: String

    var testDescription: String { name }
}

private let plug = "\"plugged_in\":true"
let liveCar = "\(plug),\"soc_source\":\"vehicle\",\"vehicle_driver\":\"tesla\",\"current_soc\":0.62"
private let new =
    "\"capacity_source\":\"configured\",\"soc_retention\":\"session\",\"vehicle_capacity_wh\":50000"
private let unknownText = (en: "The car's level is not known.", sv: "Bilens nivå är okänd.")
private let unpluggedText = (en: "No car is plugged in.", sv: "Ingen bil är inkopplad.")

private func row(
    _ name: String, _ fields: String, before: Before = .nothing, thisRun: Bool = true, healthy: Bool? = true,
    readAgo: Double = 0, _ origin: CarLevel.Origin, _ percent: Double?, ago: Double? = nil,
    outdated: Bool = false,
    _ en: String, _ sv: String
) -> LevelRow {
    LevelRow(
        name: name, fields: fields, before: before, isThisRun: thisRun, isHealthy: healthy, readAgo: readAgo,
        origin: origin, percent: percent, ago: ago, outdated: outdated, en: en, sv: sv)
}

private let carRows = [
    row(
        "live car, no age", "\(liveCar),\"vehicle_soc\":0.62", .car, 62, ago: 0,
        "Battery 62 %, the car says so.", "Batteriet 62 %, enligt bilen."),
    row(
        "live car with an age", "\(liveCar),\"vehicle_soc\":0.62,\"vehicle_soc_age_s\":120", .car, 62,
        ago: 120,
        "Battery 62 %, the car says so.", "Batteriet 62 %, enligt bilen."),
    row(
        "live car, level kept from before the plan's", "\(liveCar),\"vehicle_soc\":0.71", .car, 71, ago: 0,
        "Battery 71 %, the car says so.", "Batteriet 71 %, enligt bilen."),
    row(
        "live car at exactly 0 %, which the box leaves out", liveCar, .car, 0, ago: 0,
        "Battery 0 %, the car says so.", "Batteriet 0 %, enligt bilen."),
    row(
        "live car at 100 %", "\(liveCar),\"vehicle_soc\":1", .car, 100, ago: 0,
        "Battery 100 %, the car says so.", "Batteriet 100 %, enligt bilen."),
    row(
        "live car in the old spelling", "\(liveCar),\"vehicle_soc_pct\":62", .car, 62, ago: 0,
        "Battery 62 %, the car says so.", "Batteriet 62 %, enligt bilen."),
    row(
        "old spelling 1 is one percent of a reading", "\(liveCar),\"vehicle_soc_pct\":1", .car, 1, ago: 0,
        "Battery 1 %, the car says so.", "Batteriet 1 %, enligt bilen."),
    row(
        "both spellings: the new one", "\(liveCar),\"vehicle_soc\":0.5,\"vehicle_soc_pct\":62", .car, 50,
        ago: 0,
        "Battery 50 %, the car says so.", "Batteriet 50 %, enligt bilen."),
    row(
        "fractions are kept and rounded for people", "\(liveCar),\"vehicle_soc\":0.625", .car, 62.5, ago: 0,
        "Battery 63 %, the car says so.", "Batteriet 63 %, enligt bilen."),
    row(
        "car level 1.2 is a fault, not 120 %", "\(liveCar),\"vehicle_soc\":1.2", .unknown, nil,
        unknownText.en,
        unknownText.sv),
    row(
        "car level -0.1 is a fault", "\(liveCar),\"vehicle_soc\":-0.1", .unknown, nil, unknownText.en,
        unknownText.sv),
    row(
        "car level as text is a fault", "\(liveCar),\"vehicle_soc\":\"0.62\"", .unknown, nil, unknownText.en,
        unknownText.sv),
    row(
        "exactly five minutes is live", "\(liveCar),\"vehicle_soc\":0.62,\"vehicle_soc_age_s\":300", .car, 62,
        ago: 300, "Battery 62 %, the car says so.", "Batteriet 62 %, enligt bilen."),
    row(
        "a thousandth more is old", "\(liveCar),\"vehicle_soc\":0.62,\"vehicle_soc_age_s\":300.001", .carOld,
        62,
        ago: 300.001, outdated: true, "Battery 62 %, the car's last word at 08:59.",
        "Batteriet 62 %, bilens senaste besked 08:59."),
    row(
        "just under five minutes", "\(liveCar),\"vehicle_soc\":0.62,\"vehicle_soc_age_s\":299.999", .car, 62,
        ago: 299.999, "Battery 62 %, the car says so.", "Batteriet 62 %, enligt bilen."),
    row(
        "live when read, and exactly five minutes old now", "\(liveCar),\"vehicle_soc\":0.62", readAgo: 300,
        .car, 62,
        ago: 300, "Battery 62 %, the car says so.", "Batteriet 62 %, enligt bilen."),
    row(
        "live when read, old by now", "\(liveCar),\"vehicle_soc\":0.62", readAgo: 300.001, .carOld, 62,
        ago: 300.001,
        outdated: true, "Battery 62 %, the car's last word at 08:59.",
        "Batteriet 62 %, bilens senaste besked 08:59."),
    row(
        "age at the read plus the wait since", "\(liveCar),\"vehicle_soc\":0.62,\"vehicle_soc_age_s\":200",
        readAgo: 101, .carOld, 62, ago: 301, outdated: true, "Battery 62 %, the car's last word at 08:59.",
        "Batteriet 62 %, bilens senaste besked 08:59."),
    row(
        "forty minutes old", "\(liveCar),\"vehicle_soc\":0.62,\"vehicle_soc_age_s\":2400", .carOld, 62,
        ago: 2_400,
        outdated: true, "Battery 62 %, the car's last word at 08:25.",
        "Batteriet 62 %, bilens senaste besked 08:25."),
    row(
        "yesterday", "\(liveCar),\"vehicle_soc\":0.62,\"vehicle_soc_age_s\":43200", .carOld, 62, ago: 43_200,
        outdated: true, "Battery 62 %, the car's last word yesterday at 21:05.",
        "Batteriet 62 %, bilens senaste besked i går 21:05."),
    row(
        "twelve days ago", "\(liveCar),\"vehicle_soc\":0.62,\"vehicle_soc_age_s\":1036800", .carOld, 62,
        ago: 1_036_800, outdated: true, "Battery 62 %, the car's last word on 12 Oct at 09:05.",
        "Batteriet 62 %, bilens senaste besked 12 okt 09:05."),
    row(
        "a year ago", "\(liveCar),\"vehicle_soc\":0.62,\"vehicle_soc_age_s\":31536000", .carOld, 62,
        ago: 31_536_000, outdated: true, "Battery 62 %, the car's last word on 24 Oct 2025 at 09:05.",
        "Batteriet 62 %, bilens senaste besked 24 okt 2025 09:05."),
    row(
        "the box marks it old, with an age",
        "\(plug),\"soc_source\":\"inferred\",\"vehicle_driver\":\"t\",\"vehicle_stale\":true,\"vehicle_soc\":0.4,"
            + "\"vehicle_soc_age_s\":600,\"current_soc\":0.45", .carOld, 40, ago: 600, outdated: true,
        "Battery 40 %, the car's last word at 08:55.", "Batteriet 40 %, bilens senaste besked 08:55."),
    row(
        "the box marks a young report old",
        "\(liveCar),\"vehicle_stale\":true,\"vehicle_soc\":0.4,\"vehicle_soc_age_s\":10", .carOld, 40,
        ago: 10,
        outdated: true, "Battery 40 %, the car's last word at 09:04.",
        "Batteriet 40 %, bilens senaste besked 09:04."),
    row(
        "marked old without an age, never seen live",
        "\(plug),\"soc_source\":\"assumed\",\"vehicle_driver\":\"t\",\"vehicle_stale\":true,\"vehicle_soc\":0.4,"
            + "\"current_soc\":0.2", .carOld, 40, outdated: true, "Battery 40 % when the car last answered.",
        "Batteriet 40 % när bilen senast svarade."),
    row(
        "marked old without an age, seen live before",
        "\(plug),\"soc_source\":\"inferred\",\"vehicle_driver\":\"t\",\"vehicle_stale\":true,\"vehicle_soc\":0.4,"
            + "\"current_soc\":0.45", before: .car(percent: 40, ago: 900), .carOld, 40, ago: 900,
        outdated: true,
        "Battery 40 %, the car's last word at 08:50.", "Batteriet 40 %, bilens senaste besked 08:50."),
    row(
        "old with an age and no level: exactly 0 %",
        "\(plug),\"soc_source\":\"inferred\",\"vehicle_driver\":\"t\",\"vehicle_soc_age_s\":600,\"current_soc\":0.1",
        .carOld, 0, ago: 600, outdated: true, "Battery 0 %, the car's last word at 08:55.",
        "Batteriet 0 %, bilens senaste besked 08:55."),
    row(
        "marked old, no level and no age: nothing was reported, so the box's number",
        "\(plug),\(new),\"soc_source\":\"inferred\",\"vehicle_driver\":\"t\",\"vehicle_stale\":true,"
            + "\"current_soc\":0.45", .estimated, 45, "About 45 %, FTW's calculation.",
        "Ungefär 45 %, FTW:s beräkning."),
    row(
        "an old report without a driver is not shown",
        "\(plug),\(new),\"soc_source\":\"inferred\",\"vehicle_stale\":true,\"vehicle_soc\":0.4,\"current_soc\":0.45",
        .estimated, 45, "About 45 %, FTW's calculation.", "Ungefär 45 %, FTW:s beräkning."),
]

private let boxRows = [
    row(
        "unplugged", "\"plugged_in\":false,\"current_soc\":0", .unknown, nil, unpluggedText.en,
        unpluggedText.sv),
    row(
        "unplugged beats everything", "\"plugged_in\":false,\"soc_source\":\"vehicle\",\"vehicle_soc\":0.8",
        .unknown,
        nil, unpluggedText.en, unpluggedText.sv),
    row(
        "assumed at plug-in", "\(plug),\(new),\"soc_source\":\"assumed\",\"current_soc\":0.2", .assumed, 20,
        "FTW guesses 20 %. Enter the real level.", "FTW gissar 20 %. Ange den riktiga nivån."),
    row(
        "assumed and charged", "\(plug),\(new),\"soc_source\":\"assumed\",\"current_soc\":0.314", .assumed,
        31.4,
        "FTW guesses 31 %. Enter the real level.", "FTW gissar 31 %. Ange den riktiga nivån."),
    row(
        "estimated", "\(plug),\(new),\"soc_source\":\"inferred\",\"current_soc\":0.55", .estimated, 55,
        "About 55 %, FTW's calculation.", "Ungefär 55 %, FTW:s beräkning."),
    row(
        "estimated in the old spelling", "\(plug),\"soc_source\":\"inferred\",\"current_soc_pct\":55",
        .estimated, 55,
        "About 55 %, FTW's calculation.", "Ungefär 55 %, FTW:s beräkning."),
    row(
        "old spelling is not read beside a faulty new one",
        "\(plug),\"soc_source\":\"inferred\",\"current_soc\":55,\"current_soc_pct\":55", .unknown, nil,
        unknownText.en,
        unknownText.sv),
    row(
        "base box at its own guess",
        "\(plug),\"soc_source\":\"inferred\",\"current_soc\":0.2,\"delivered_wh_session\":0", .estimated, 20,
        "About 20 %, FTW's calculation that nobody has confirmed.",
        "Ungefär 20 %, FTW:s beräkning som ingen har bekräftat."),
    row(
        "base box, 49 Wh later",
        "\(plug),\"soc_source\":\"inferred\",\"current_soc\":0.2004,\"delivered_wh_session\":49.9",
        .estimated, 20.04,
        "About 20 %, FTW's calculation that nobody has confirmed.",
        "Ungefär 20 %, FTW:s beräkning som ingen har bekräftat."),
    row(
        "base box, 50 Wh: no longer the heuristic",
        "\(plug),\"soc_source\":\"inferred\",\"current_soc\":0.2,\"delivered_wh_session\":50", .estimated, 20,
        "About 20 %, FTW's calculation.", "Ungefär 20 %, FTW:s beräkning."),
    row(
        "base box, another level",
        "\(plug),\"soc_source\":\"inferred\",\"current_soc\":0.201,\"delivered_wh_session\":0", .estimated,
        20.1,
        "About 20 %, FTW's calculation.", "Ungefär 20 %, FTW:s beräkning."),
    row(
        "a box that can tell is believed at 20 %",
        "\(plug),\(new),\"soc_source\":\"inferred\",\"current_soc\":0.2,\"delivered_wh_session\":0",
        .estimated, 20,
        "About 20 %, FTW's calculation.", "Ungefär 20 %, FTW:s beräkning."),
    row(
        "completed is the target copied over", "\(plug),\"soc_source\":\"completed\",\"current_soc\":0.8",
        .unknown,
        nil, unknownText.en, unknownText.sv),
    row(
        "a source nobody knows", "\(plug),\"soc_source\":\"oracle\",\"current_soc\":0.8", .unknown, nil,
        unknownText.en, unknownText.sv),
    row("no source", "\(plug),\"current_soc\":0.8", .unknown, nil, unknownText.en, unknownText.sv),
    row("no level", "\(plug),\"soc_source\":\"inferred\"", .unknown, nil, unknownText.en, unknownText.sv),
    row(
        "level null", "\(plug),\"soc_source\":\"inferred\",\"current_soc\":null", .unknown, nil,
        unknownText.en,
        unknownText.sv),
    row(
        "level out of range", "\(plug),\"soc_source\":\"assumed\",\"current_soc\":1.01", .unknown, nil,
        unknownText.en,
        unknownText.sv),
    row(
        "plug not told", "\"current_soc\":0.8", .unknown, nil, outdated: true, unknownText.en, unknownText.sv),
]

private let session = "\"delivered_wh_session\":1000"
private let estimate = "\(plug),\(new),\"soc_source\":\"inferred\""

private let personRows = [
    row(
        "a person just entered it", "\(estimate),\"current_soc\":0.6,\(session)",
        before: .person(percent: 60, ago: 60), .person, 60, ago: 60,
        "About 60 %, counted from the 60 % entered at 09:04.",
        "Ungefär 60 %, räknat från 60 % som angavs 09:04."),
    row(
        "and 5 kWh of 50 went in since", "\(estimate),\"current_soc\":0.7,\"delivered_wh_session\":6000",
        before: .person(percent: 60, ago: 7_200), .person, 70, ago: 7_200,
        "About 70 %, counted from the 60 % entered at 07:05.",
        "Ungefär 70 %, räknat från 60 % som angavs 07:05."),
    row(
        "counted with losses", "\(estimate),\"current_soc\":0.69,\"delivered_wh_session\":6000",
        before: .person(percent: 60, ago: 7_200), .person, 69, ago: 7_200,
        "About 69 %, counted from the 60 % entered at 07:05.",
        "Ungefär 69 %, räknat från 60 % som angavs 07:05."),
    row(
        "above the corridor: somebody else moved it",
        "\(estimate),\"current_soc\":0.72,\"delivered_wh_session\":6000",
        before: .person(percent: 60, ago: 7_200), .estimated, 72, "About 72 %, FTW's calculation.",
        "Ungefär 72 %, FTW:s beräkning."),
    row(
        "below the corridor", "\(estimate),\"current_soc\":0.67,\"delivered_wh_session\":6000",
        before: .person(percent: 60, ago: 7_200), .estimated, 67, "About 67 %, FTW's calculation.",
        "Ungefär 67 %, FTW:s beräkning."),
    row(
        "counting stops at full", "\(estimate),\"current_soc\":1,\"delivered_wh_session\":41000",
        before: .person(percent: 60, ago: 7_200), .person, 100, ago: 7_200,
        "About 100 %, counted from the 60 % entered at 07:05.",
        "Ungefär 100 %, räknat från 60 % som angavs 07:05."),
    row(
        "the session's energy fell", "\(estimate),\"current_soc\":0.6,\"delivered_wh_session\":0",
        before: .person(percent: 60, ago: 7_200), .estimated, 60, "About 60 %, FTW's calculation.",
        "Ungefär 60 %, FTW:s beräkning."),
    row(
        "the box lost it", "\(plug),\(new),\"soc_source\":\"assumed\",\"current_soc\":0.6,\(session)",
        before: .person(percent: 60, ago: 60), .assumed, 60, "FTW guesses 60 %. Enter the real level.",
        "FTW gissar 60 %. Ange den riktiga nivån."),
    row(
        "a live car overrides a person", "\(liveCar),\"vehicle_soc\":0.5,\(session)",
        before: .person(percent: 60, ago: 60), .car, 50, ago: 0, "Battery 50 %, the car says so.",
        "Batteriet 50 %, enligt bilen."),
    row(
        "the car spoke before the person",
        "\(estimate),\"vehicle_driver\":\"t\",\"vehicle_stale\":true,\"vehicle_soc\":0.5,\"vehicle_soc_age_s\":900,"
            + "\"current_soc\":0.6,\(session)", before: .person(percent: 60, ago: 600), .person, 60, ago: 600,
        "About 60 %, counted from the 60 % entered at 08:55.",
        "Ungefär 60 %, räknat från 60 % som angavs 08:55."),
    row(
        "the car spoke after the person",
        "\(estimate),\"vehicle_driver\":\"t\",\"vehicle_stale\":true,\"vehicle_soc\":0.5,\"vehicle_soc_age_s\":400,"
            + "\"current_soc\":0.6,\(session)", before: .person(percent: 60, ago: 600), .carOld, 50, ago: 400,
        outdated: true, "Battery 50 %, the car's last word at 08:58.",
        "Batteriet 50 %, bilens senaste besked 08:58."),
    row(
        "nobody knows when the car spoke: the person wins",
        "\(estimate),\"vehicle_driver\":\"t\",\"vehicle_stale\":true,\"vehicle_soc\":0.5,\"current_soc\":0.6,\(session)",
        before: .person(percent: 60, ago: 600), .person, 60, ago: 600,
        "About 60 %, counted from the 60 % entered at 08:55.",
        "Ungefär 60 %, räknat från 60 % som angavs 08:55."),
    row(
        "the car was seen live before the person",
        "\(estimate),\"vehicle_driver\":\"t\",\"vehicle_stale\":true,\"vehicle_soc\":0.5,\"current_soc\":0.6,\(session)",
        before: .carThenPerson(carAgo: 900, personAgo: 600), .person, 60, ago: 600,
        "About 60 %, counted from the 60 % entered at 08:55.",
        "Ungefär 60 %, räknat från 60 % som angavs 08:55."),
    row(
        "entered yesterday", "\(estimate),\"current_soc\":0.6,\(session)",
        before: .person(percent: 60, ago: 43_200), .person, 60, ago: 43_200,
        "About 60 %, counted from the 60 % entered yesterday at 21:05.",
        "Ungefär 60 %, räknat från 60 % som angavs i går 21:05."),
    row(
        "an answer older than the entry does not judge it", "\(estimate),\"current_soc\":0.4,\(session)",
        before: .person(percent: 60, ago: 10), readAgo: 30, .estimated, 40, "About 40 %, FTW's calculation.",
        "Ungefär 40 %, FTW:s beräkning."),
]

private let oldRows = [
    row(
        "nothing ever read", "", thisRun: false, .unknown, nil, outdated: true, unknownText.en, unknownText.sv
    ),
    row(
        "charger unavailable keeps the live car as old",
        "\(liveCar),\"charger\":{\"known\":true,\"available\":false}",
        before: .car(percent: 62, ago: 120), .car, 62, ago: 120, outdated: true,
        "Battery 62 %, the car's last word at 09:03.", "Batteriet 62 %, bilens senaste besked 09:03."),
    row(
        "charger says nothing about being available", "\(liveCar),\"charger\":{\"known\":true}",
        before: .car(percent: 62, ago: 120), .car, 62, ago: 120, outdated: true,
        "Battery 62 %, the car's last word at 09:03.", "Batteriet 62 %, bilens senaste besked 09:03."),
    row(
        "charger account unreadable", "\(liveCar),\"charger\":7", before: .car(percent: 62, ago: 120), .car,
        62,
        ago: 120,
        outdated: true, "Battery 62 %, the car's last word at 09:03.",
        "Batteriet 62 %, bilens senaste besked 09:03."),
    row(
        "charger available",
        "\(liveCar),\"vehicle_soc\":0.62,\"charger\":{\"known\":true,\"available\":true}",
        .car, 62,
        ago: 0, "Battery 62 %, the car says so.", "Batteriet 62 %, enligt bilen."),
    row(
        "source of the charger silent", "\(liveCar),\"vehicle_soc\":0.62",
        before: .car(percent: 60, ago: 240),
        healthy: false, .car, 60, ago: 240, outdated: true, "Battery 60 %, the car's last word at 09:01.",
        "Batteriet 60 %, bilens senaste besked 09:01."),
    row(
        "source not told", "\(liveCar),\"vehicle_soc\":0.62", healthy: nil, .car, 62, ago: 0,
        "Battery 62 %, the car says so.", "Batteriet 62 %, enligt bilen."),
    row(
        "another run of the box keeps the estimate, dated",
        "", before: .read("\(estimate),\"current_soc\":0.55", ago: 900), thisRun: false, .estimated, 55,
        ago: 900,
        outdated: true, "About 55 % at 08:50; nothing newer is known.",
        "Ungefär 55 % 08:50; inget nyare är känt."),
    row(
        "the guess, dated", "",
        before: .read("\(plug),\(new),\"soc_source\":\"assumed\",\"current_soc\":0.2", ago: 900),
        thisRun: false,
        .assumed, 20, ago: 900, outdated: true, "FTW guessed 20 % at 08:50; nothing newer is known.",
        "FTW gissade 20 % 08:50; inget nyare är känt."),
    row(
        "unplugged, dated", "", before: .read("\"plugged_in\":false", ago: 900), thisRun: false, .unknown,
        nil,
        ago: 900, outdated: true, "No car was plugged in at 08:50; nothing newer is known.",
        "Ingen bil var inkopplad 08:50; inget nyare är känt."),
    row(
        "an old report of unknown time gets no time", "",
        before: .read(
            "\(plug),\"soc_source\":\"inferred\",\"vehicle_driver\":\"t\",\"vehicle_stale\":true,\"vehicle_soc\":0.4,"
                + "\"current_soc\":0.5", ago: 900), thisRun: false, .carOld, 40, outdated: true,
        "Battery 40 % when the car last answered.", "Batteriet 40 % när bilen senast svarade."),
    row(
        "before a trip 80 % live, after it a guess: no 80 %",
        "\(plug),\(new),\"soc_source\":\"assumed\",\"current_soc\":0.2,\"delivered_wh_session\":0",
        before: .car(percent: 80, ago: 240), .assumed, 20, "FTW guesses 20 %. Enter the real level.",
        "FTW gissar 20 %. Ange den riktiga nivån."),
]

let levelRows = carRows + boxRows + personRows + oldRows
