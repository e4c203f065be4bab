import BoxSimulator
import FoundationEssentials
import Glibc
import JSONText
import Testing

extension Recipes {
    /// `config/voice/say-car.sh`, with `cat` for a voice.
    @Suite(.needsBroker, .timeLimit(.minutes(6))) struct SayCarTests {
        @Test func itSaysWhatTheTopicSays() async throws {
            try await RecipeStage.run { recipe in
                let say = "config/voice/say-car.sh --speaker cat"
                var run = try await recipe.shell(say)
                #expect(run.code == 0)
                #expect(run.output.hasPrefix("Battery 50 percent, the car says so."), "\(run.output)")
                run = try await recipe.shell("\(say) --lang sv --what level")
                #expect(run.code == 0 && run.output == "Batteriet 50 %, enligt bilen.\n", "\(run.output)")
                run = try await recipe.shell("\(say) --car nobody -- -W 1")
                #expect(run.code == 1 && run.output.contains("is the car called nobody?"), "\(run.output)")
                run = try await recipe.shell("config/voice/say-car.sh --speaker false")
                #expect(run.code == 1 && run.output.contains("not said: Battery 50"), "\(run.output)")
                // Nobody listens on port 1: neither way looks as if something had been said.
                for way in ["", "--follow"] {
                    run = try await recipe.shell("\(say) \(way) -- -p 1")
                    #expect(run.code == 1 && run.output.contains("refused"), "\(way): \(run.output)")
                }
                run = try await recipe.shell("\(say) --follow -- -C 1")
                #expect(run.code == 0 && run.output.hasPrefix("Battery 50 percent"), "\(run.output)")
                run = try await recipe.shell("\(say) --car nobody --follow -- -W 1")
                #expect(run.code == 1, "\(run.output)")
                for wrong in ["--lang de", "--what colour", "--car", "now"] {
                    run = try await recipe.shell("\(say) \(wrong)")
                    #expect(run.code == 2, "\(wrong): \(run.output)")
                }
                // It follows: the same is not said twice, and something new is.
                try recipe.stage.folder.write("follow", "")
                let child = try Child(
                    "/bin/bash",
                    [
                        "-c",
                        "exec '\(RecipeStage.root.path)/config/voice/say-car.sh' --speaker cat --what charging --follow -- -i say-car",
                    ],
                    output: "\(recipe.stage.folder.path)/follow", variables: try recipe.environment())
                _ = try await recipe.stage.eventually("the first sentence") {
                    recipe.stage.folder.read("follow").isEmpty ? nil : true
                }
                _ = try await recipe.shell("mosquitto_pub -q 1 -t ftw/home/car/garage/control/set -m pause")
                _ = try await recipe.stage.eventually("the second sentence") {
                    recipe.stage.folder.read("follow").hasSuffix(
                        "Charging is paused until someone resumes it.\n")
                        ? true : nil
                }
                // A service manager's signal ends it, and its listener with it.
                child.signal(SIGTERM)
                #expect(try await child.ended(within: .seconds(10)) == 0)
                _ = try await recipe.stage.eventually("the listener's end") {
                    recipe.stage.broker.log.split(separator: "\n").contains {
                        $0.contains("Client say-car ")
                            && ($0.contains("disconnected") || $0.contains("closed"))
                    } ? true : nil
                }
            }
        }
    }
}
