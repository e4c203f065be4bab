import BoxSimulator
import Configuration
import FoundationEssentials
import JSONText
import MQTTClient
import MQTTTypes
import Testing

@testable import Daemon

/// What is shipped in `config/` to be used as it is, tried one after the other: each
/// starts programs of its own, and many at a time would starve the tests beside them.
@Suite(.serialized) enum Recipes {}

/// A household at work on a real broker, for what is shipped to be tried in it:
/// a car that is plugged in and speaks, a box that asks for no confirmation, and
/// a bridge with everything switched on.
final class RecipeStage: Sendable {
    let stage: Stage
    let bridge: RunningBridge

    private init(_ stage: Stage, _ bridge: RunningBridge) {
        self.stage = stage
        self.bridge = bridge
    }

    /// Runs a household and ends it afterwards.
    static func run(
        car: CarSituation = .carLive(0.5), _ change: (inout Settings) -> Void = { _ in },
        _ body: (RecipeStage) async throws -> Void
    ) async throws {
        var options = Stage.Options()
        options.isHouseAwake = true
        let stage = try await Stage(options)
        await stage.box.setCar(car)
        await stage.box.setStepUp(false)
        let bridge = try stage.bridge(asksForAll: true) { settings in
            settings.mqtt.values = true
            settings.voice.hermes = true
            change(&settings)
        }
        let recipe = RecipeStage(stage, bridge)
        do {
            // With mirrored values there is more below each source than its document.
            try await stage.picture("a live house with its plan and prices") { picture in
                picture.document("power")?["live"] == true && picture.document("price/now") != nil
                    && picture.document("plan/now") != nil && picture.document("energy") != nil
                    && picture.document("car/garage/state")?["live"] == true
                    && ["grid-meter", "roof-pv", "house-battery", "garage-charger"].allSatisfy {
                        picture.text("source/\($0)/availability") == "online"
                            && picture.document("source/\($0)")?["roles"] != .array([])
                    }
            }
            try await body(recipe)
        } catch {
            await recipe.close()
            throw error
        }
        await recipe.close()
    }

    private func close() async {
        await bridge.stop()
        await stage.close()
    }

    /// The files of this checkout.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func file(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
    }

    /// The fenced blocks of a Markdown page in that language, in order.
    static func blocks(_ language: String, of page: String) -> [String] {
        var blocks: [String] = []
        var current: [Substring]?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = current {
                if line.hasPrefix("```") {
                    blocks.append(lines.joined(separator: "\n"))
                    current = nil
                } else {
                    current = lines + [line]
                }
            } else if line == "```\(language)" {
                current = []
            }
        }
        return blocks
    }

    // MARK: Programs

    struct Run: Sendable {
        var code: Int32
        var output: String
    }

    /// The environment in which mosquitto's clients find this broker without
    /// options, as the page tells people to arrange it.
    func environment() throws -> [String: String?] {
        let folder = "\(stage.folder.path)/config-home"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for program in ["mosquitto_sub", "mosquitto_pub", "mosquitto_rr"] {
            try Data("-h 127.0.0.1\n-p \(stage.broker.port)\n".utf8).write(
                to: URL(filePath: "\(folder)/\(program)"))
        }
        return ["XDG_CONFIG_HOME": folder, "LC_ALL": "C.UTF-8"]
    }

    /// Runs a shell text in this checkout's folder, to its end.
    func shell(_ text: String, within limit: Duration = .seconds(60)) async throws -> Run {
        let name = "shell-\(UInt64.random(in: 0...UInt64.max))"
        try stage.folder.write(name, "cd '\(Self.root.path)'\n\(text)\n")
        let child = try Child(
            "/bin/bash", ["\(stage.folder.path)/\(name)"], output: "\(stage.folder.path)/\(name).out",
            variables: try environment())
        let code = try await child.ended(within: limit)
        return Run(code: code, output: stage.folder.read("\(name).out"))
    }

    // MARK: Looking

    func document(_ path: String) async throws -> JSONValue? { try await stage.picture().document(path) }

    func text(_ path: String) async throws -> String? { try await stage.picture().text(path) }

    /// Waits until that topic's text is so.
    func becomes(_ path: String, _ text: String) async throws {
        try await stage.picture("\(path) \(text)") { $0.text(path) == text }
    }

    /// The commands that the box carried out, newest last.
    var applied: [BoxLog.Command] {
        get async { await stage.box.requestLog.commands.filter { $0.outcome == "applied" } }
    }
}
