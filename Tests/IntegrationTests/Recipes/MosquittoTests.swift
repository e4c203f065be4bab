import BoxSimulator
import EnergyModel
import FoundationEssentials
import Glibc
import JSONText
import Testing

extension Recipes {
    /// The recipes for mosquitto's clients, as they stand on the page.
    @Suite(.needsBroker, .timeLimit(.minutes(6))) struct MosquittoTests {
        /// What a block must bring about: its output, and what the bridge shows afterwards.
        private struct Effect: Sendable {
            var said: @Sendable (String) -> Bool = { $0.isEmpty }
            var after: @Sendable (RetainedPicture) -> Bool = { _ in true }
        }

        private static func outcome(_ requested: JSONValue, _ value: JSONValue? = nil) -> Effect {
            Effect(after: { picture in
                let last = picture.document("car/garage/last_command")
                return last?["requested"] == requested && last?["stage"] == "done"
                    && (value.map { last?["value"] == $0 } ?? true)
            })
        }

        /// What the box does now, and that it was this block that brought it about.
        private static func control(
            _ word: String, asked: JSONValue? = nil, hold: [String: JSONValue] = [:]
        ) -> Effect {
            Effect(after: { picture in
                let last = picture.document("car/garage/last_command")
                let held = picture.document("car/garage/hold")
                return picture.text("car/garage/control") == word && last?["stage"] == "done"
                    && last?["requested"] == (asked ?? .string(word))
                    && hold.allSatisfy { held?[$0.key] == $0.value }
            })
        }

        /// A charge for that long, which this block ordered.
        private static func timed(
            minutes: Double, powerW: JSONValue, by name: JSONValue = "bridge"
        ) -> Effect {
            Effect(after: { picture in
                let last = picture.document("car/garage/last_command")
                guard let hold = picture.document("car/garage/hold"),
                    let until = hold["until"]?.stringValue.flatMap(instant(rfc3339:)),
                    let at = last?["at"]?.stringValue.flatMap(instant(rfc3339:))
                else { return false }
                return picture.text("car/garage/control") == "charge_now" && last?["stage"] == "done"
                    && hold["power"] == powerW && hold["asked_by"] == name
                    && abs(until.timeIntervalSince(at) - minutes * 60) < 60
            })
        }

        /// Seven o'clock, give or take the second that two clocks may differ by.
        private static func isSeven(_ time: JSONValue?) -> Bool {
            guard let text = time?.stringValue else { return false }
            return text.contains("T07:00:0") || text.contains("T06:59:59")
        }

        private static func goal(_ level: JSONValue, _ by: JSONValue) -> Effect {
            Effect(after: { picture in
                let goal = picture.document("car/garage/goal")
                return goal?["level"] == level && goal?["by"] == by
            })
        }

        /// By a piece of the block that tells it from the others.
        private static let effects: [(piece: String, effect: Effect)] = [
            (
                "--retained-only",
                Effect(said: {
                    $0.contains("ftw/home/power {") && $0.contains("ftw/home/bridge/availability online")
                })
            ),
            (
                "jq '{level",
                Effect(said: {
                    let document = try? JSONValue(parsing: $0)
                    return document?["level"]?.doubleValue.map { (50...55).contains($0) } == true
                        && document?["origin"] == "estimated"
                        && document?["at"] == .null
                })
            ),
            ("jq .grid", Effect(said: { Double($0.filter { !$0.isWhitespace }) != nil })),
            ("bridge/availability -C 1", Effect(said: { $0 == "online\n" })),
            (
                "level/level",
                Effect(said: { output in
                    let lines = output.split(separator: "\n")
                    return lines.count == 2 && lines.allSatisfy { Double($0) != nil }
                })
            ),
            ("level/set -m 62", outcome("62", 62)), ("adjust -m +5", outcome("+5", 67)),
            ("-m charge_now", control("charge_now")),
            (
                #""until":"07:00""#,
                Effect(after: { picture in
                    picture.text("car/garage/control") == "charge_now"
                        && Self.isSeven(picture.document("car/garage/hold")?["until"])
                })
            ),
            (#""minutes":90"#, timed(minutes: 90, powerW: 6_000)),
            ("-m pause", control("paused", asked: "pause")), ("control/set -m plan", control("plan")),
            ("weekdays", goal(80, "07:00")),
            ("06:30", goal(80, "06:30")),
            ("-m clear", Effect(after: { $0.document("car/garage/goal")?["active"] == false })),
            ("last_command", Effect(said: { $0 == "Done.\n" })),
            (
                "mosquitto_rr",
                Effect(said: { output in
                    guard output.hasPrefix("4711 "),
                        let answer = try? JSONValue(parsing: String(output.dropFirst(5)))
                    else { return false }
                    return answer["stage"] == "received" && answer["final"] == false
                })
            ),
            (
                #""minutes":45"#,
                Effect(
                    said: { $0 == "Done.\n" },
                    after: timed(minutes: 45, powerW: 11_000, by: "hall").after)
            ),
            ("ask.sh ftw/home/car/garage/level/set 55", Effect(said: { $0 == "Done.\n" })),
            (
                "155",
                Effect(said: {
                    $0.contains("Not done: found \"155\"") && $0.hasSuffix("nothing was changed\n")
                })
            ),
        ]

        /// The box takes ten commands a minute of a car, so the page is tried in two households.
        @Test(arguments: [0, 1])
        func everyRecipeWorksAsItIsWritten(half: Int) async throws {
            let page = try RecipeStage.file("config/other-homes/mosquitto.md")
            #expect(RecipeStage.blocks("sh", of: page).count == Self.effects.count)
            let halves = page.split(separator: "## What came of it").map(String.init)
            #expect(halves.count == 2)
            try await RecipeStage.run(car: .estimated(0.5)) { recipe in
                if half == 1 {
                    // Something must have been asked for before one can look at what came of it.
                    let run = try await recipe.shell(
                        "config/other-homes/ask.sh ftw/home/car/garage/level/set 50")
                    #expect(run.code == 0)
                }
                for block in RecipeStage.blocks("sh", of: halves[half]) {
                    let found = Self.effects.filter { block.contains($0.piece) }
                    // A piece of a later recipe may stand in an earlier one: the longest tells best.
                    let effect = try #require(found.max { $0.piece.count < $1.piece.count }, "\(block)")
                        .effect
                    let run = try await recipe.shell(block)
                    #expect(run.code == 0, "\(block)\n\(run.output)")
                    #expect(effect.said(run.output), "\(block)\n\(run.output)")
                    try await recipe.stage.picture("the effect of \(block)") { effect.after($0) }
                }
            }
        }

        /// A bridge that never comes to an end, and a clock that does not let anybody wait for it.
        @Test(arguments: [
            "ftw/home/car/garage/control/set", "ftw/home/car/car/level/adjust", "ftw/home/mode/set",
            "ftw/home/bridge/request/reload",
        ])
        func askTellsWhereTheOutcomeWillBe(topic: String) async throws {
            let folder = try TestFolder()
            let programs: [(String, String)] = [
                ("mosquitto_rr", #"echo '{"final":false,"stage":"accepted"}'"#), ("sleep", ":"),
            ]
            for (name, text) in programs {
                try folder.write(name, "#!/bin/sh\n\(text)\n")
                #expect(chmod("\(folder.path)/\(name)", 0o755) == 0)
            }
            let path = "\(folder.path):/usr/local/bin:/usr/bin:/bin"
            let child = try Child(
                "/bin/bash", ["\(RecipeStage.root.path)/config/other-homes/ask.sh", topic, "x"],
                output: "\(folder.path)/output", variables: ["PATH": path])
            #expect(try await child.ended() == 3)
            #expect(folder.read("output") == "ask: no outcome yet; it will be on ftw/home/result\n")
        }

        @Test func askTellsByItsExitCodeHowItWent() async throws {
            try await RecipeStage.run(car: .unplugged) { recipe in
                let ask = "config/other-homes/ask.sh"
                var run = try await recipe.shell("\(ask) ftw/home/car/garage/control/set charge_now")
                #expect(run.code == 1 && run.output == "Not done: plug the car in first.\n", "\(run.output)")
                run = try await recipe.shell("\(ask) ftw/home/car/nowhere/control/set pause")
                #expect(run.code == 1 && run.output.hasPrefix("Not done: "), "\(run.output)")
                run = try await recipe.shell("\(ask) ftw/home")
                #expect(run.code == 2)
                // Nobody answers below another base topic. (The script waits ten seconds.)
                run = try await recipe.shell("\(ask) other/home/car/garage/level/set 5")
                #expect(run.code == 3 && run.output.contains("no answer from the bridge"), "\(run.output)")
                let commands = await recipe.applied
                #expect(commands.isEmpty)
            }
        }
    }
}
