import BoxSimulator
import FoundationEssentials
import Glibc
import JSONText
import MQTTClient
import MQTTTypes
import Testing

extension Recipes {
    /// The flow for Node-RED: its shape, the code of its function nodes run by Node.js, and
    /// what would leave it sent to a bridge. Node-RED itself does not run here.
    @Suite(.needsBroker, .timeLimit(.minutes(6))) struct NodeREDTests {
        /// What the flow did with each line, in their order; first what it says of itself.
        private static func run(_ lines: [JSONValue]) async throws -> [[JSONValue]] {
            let folder = try TestFolder()
            try folder.write("lines", lines.map { $0.text + "\n" }.joined())
            let places: [String] = ["/usr/bin/node", "/usr/local/bin/node", "/usr/bin/nodejs"]
            let node = places.first { access($0, X_OK) == 0 }
            let child = try Child(
                try #require(node, "there is no Node.js; deploy/install.sh installs it"),
                [
                    "\(RecipeStage.root.path)/Tests/NodeRED/flow-runner.js",
                    "\(RecipeStage.root.path)/config/other-homes/node-red/flow.json",
                ], output: "\(folder.path)/output", input: "\(folder.path)/lines")
            let code = try await child.ended()
            let output = folder.read("output")
            #expect(code == 0, "\(output)")
            var steps: [[JSONValue]] = [[]]
            for line in output.split(separator: "\n") {
                let document = try JSONValue(parsing: String(line))
                if document["done"] == nil {
                    steps[steps.count - 1].append(document)
                } else {
                    steps.append([])
                }
            }
            // `ready` comes before the first line, and belongs to none.
            steps[0].removeFirst()
            steps.removeLast()
            #expect(steps.count == lines.count, "\(output)")
            return steps
        }

        /// A message of the bridge, which retains all but results. `kept`: the broker had it when the
        /// flow subscribed; otherwise it comes live, and its retain flag is as the flow subscribed.
        private static func on(_ topic: String, _ payload: String, kept: Bool = false) -> JSONValue {
            [
                "topic": .string("ftw/home/\(topic)"), "payload": .string(payload),
                "retain": .bool(topic != "result"), "kept": .bool(kept),
            ]
        }

        private static func press(_ name: String) -> JSONValue { ["press": .string(name)] }

        @Test func unknownIsNeverANumberAndNothingOddMakesItFail() async throws {
            func level(_ members: String) -> JSONValue { Self.on("car/garage/level", "{\(members)}") }
            let table: [(line: JSONValue, said: [JSONValue])] = [
                (
                    level(#""level":62,"origin":"car","at":"2026-11-30T12:06:58+01:00","live":true"#),
                    ["62 %, the car says so, 2026-11-30 12:06"]
                ),
                (
                    level(#""level":0,"origin":"estimated","at":null,"live":false"#),
                    ["0 %, FTW's calculation (an old picture)"]
                ),
                (
                    level(#""level":null,"origin":"unknown","at":null,"live":true"#),
                    ["The car's level is not known."]
                ),
                (level(#""level":null,"origin":"unknown","unplugged":true"#), ["No car is plugged in."]),
                (level(#""level":50,"origin":"a later word","at":null"#), ["The car's level is not known."]),
                (Self.on("car/garage/level", "null"), []), (Self.on("car/garage/level", "not JSON"), []),
                (Self.on("car/garage/level", "7"), []), (Self.on("result", "[]"), []),
                (Self.on("result", #"{"final":false,"id":"x","text":"Received."}"#), []),
                (Self.on("result", #"{"final":true,"id":"x","text":"Done.","stage":"done"}"#), ["Done."]),
                (Self.on("car/garage/last_command", "\"text\""), []),
                (Self.on("elsewhere", "x"), []),
            ]
            let steps = try await Self.run(table.map(\.line))
            for (step, row) in zip(steps, table) {
                #expect(step.map { $0["payload"] ?? .null } == row.said, "\(row.line)")
                #expect(step.allSatisfy { $0["debug"] != nil })
            }
        }

        @Test func itChargesWhenItBecameCheapAndNotOtherwise() async throws {
            let car = #"{"live":true,"plugged_in":true}"#
            let start = [Self.on("bridge/availability", "online"), Self.on("car/garage/state", car)]
            func orders(_ lines: [JSONValue]) async throws -> Int {
                try await Self.run(lines).joined().count { $0["publish"] != nil }
            }
            let plan = Self.on("car/garage/control", "plan")
            let cheap = Self.on("price/cheap_now", "ON")
            let dear = Self.on("price/cheap_now", "OFF")
            #expect(try await orders(start + [plan, dear, cheap]) == 1)
            #expect(
                try await orders(start + [plan, Self.on("price/cheap_now", "OFF", kept: true), cheap]) == 1)
            // Once each time it becomes cheap.
            #expect(try await orders(start + [plan, dear, cheap, cheap, dear, cheap]) == 2)
            // What the broker had kept is no news; and it is not for cars that are away, old pictures,
            // a bridge that is gone, or somebody who decided otherwise.
            let kept = Self.on("price/cheap_now", "ON", kept: true)
            #expect(try await orders(start + [plan, kept, cheap]) == 0)
            #expect(try await orders(start + [plan, dear, kept]) == 0)
            #expect(try await orders(start + [dear, Self.on("car/garage/control", "paused"), cheap]) == 0)
            #expect(try await orders([plan, dear, cheap]) == 0)
            for other in [#"{"live":false,"plugged_in":true}"#, #"{"live":true,"plugged_in":null}"#] {
                let state = Self.on("car/garage/state", other)
                #expect(try await orders(start + [plan, dear, state, cheap]) == 0)
            }
            let gone = Self.on("bridge/availability", "offline")
            #expect(try await orders(start + [plan, dear, gone, cheap]) == 0)
            // A bridge that starts again in a cheap hour does not know for a while, and then it is as cheap
            // as it was. Neither is it certain when it becomes cheap meanwhile.
            let unknown = Self.on("price/cheap_now", "null")
            let back = [gone, unknown, start[0], cheap]
            #expect(try await orders(start + [plan, dear, cheap] + back + back) == 1)
            #expect(try await orders(start + [plan, cheap] + back) == 0)
            #expect(try await orders(start + [plan, dear] + back) == 0)
        }

        @Test func whatLeavesItIsCarriedOutAndItsOutcomeFound() async throws {
            try await RecipeStage.run(car: .estimated(0.5)) { recipe in
                let client = try await TestClient.subscribed(
                    recipe.stage.broker.settings(clientID: "node-red"), to: ["ftw/home/#"])
                _ = try await client.message("ftw/home/car/garage/control")
                let kept = try await recipe.stage.picture().messages.values
                    .filter { $0.topic.hasPrefix("ftw/home/") }
                    .map { message -> JSONValue in
                        [
                            "topic": .string(message.topic), "payload": .string(message.text ?? ""),
                            "retain": true, "kept": true,
                        ]
                    }
                // As Node-RED would see it after a deployment: all that is kept, then what happens.
                let buttons = [
                    "charge now", "pause", "back to the plan", "the car is at 62 %", "80 % by 07:00",
                ]
                let happens =
                    buttons.map(Self.press) + [
                        Self.on("price/cheap_now", "OFF"), Self.on("price/cheap_now", "ON"),
                    ]
                let steps = try await Self.run(kept + happens)
                let said = steps.prefix(kept.count).joined()
                #expect(
                    said.contains {
                        $0["debug"] == "car level"
                            && $0["payload"]?.stringValue?.hasSuffix("%, FTW's calculation") == true
                    })
                #expect(said.allSatisfy { $0["publish"] == nil }, "what was kept must lead to nothing")
                let published = steps.dropFirst(kept.count).joined().compactMap { $0["publish"] }
                #expect(published.count == buttons.count + 1)
                for publish in published {
                    let topic = try #require(publish["topic"]?.stringValue)
                    let payload = try #require(publish["payload"]?.stringValue)
                    #expect(publish["qos"] == 1 && publish["retain"] == false && publish["expiry"] == 30)
                    let id = try #require((try JSONValue(parsing: payload))["id"])
                    client.client.publish(Message(topic, Array(payload.utf8), expirySeconds: 30))
                    let end = try await client.next("the end of \(payload)") { message in
                        guard message.topic == "ftw/home/result",
                            let result = try? JSONValue(parsing: message.payload)
                        else { return false }
                        return result["id"] == id && result["final"] == true
                    }
                    let result = try JSONValue(parsing: end.payload)
                    #expect(result["stage"] == "done", "\(payload): \(end.text ?? "")")
                }
                // The outcome finds its way to the one who asked, and only there.
                func result(_ id: String, _ stage: String, _ text: String) -> JSONValue {
                    Self.on(
                        "result",
                        #"{"id":"\#(id)","final":true,"stage":"\#(stage)","text":"\#(text)","code":null,"topic":"t"}"#
                    )
                }
                let ends = try await Self.run([
                    Self.press("pause"), result("$last", "done", "Done."), Self.press("charge now"),
                    result("$last", "refused", "Not done."), result("somebody", "done", "Done."),
                ])
                #expect(ends[1].map { $0["debug"] ?? .null } == ["done"])
                #expect(ends[3].map { $0["debug"] ?? .null } == ["not done"])
                #expect(ends[4].map { $0["debug"] ?? .null } == ["others"])
                await client.close()
            }
        }
    }
}
