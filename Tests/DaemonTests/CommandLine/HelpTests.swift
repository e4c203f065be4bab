import Testing

@testable import Daemon

@Suite struct HelpTests {
    @Test func theOverviewNamesEveryCommandAndExitCode() {
        let text = HelpText.overview()
        for verb in Verb.allCases { #expect(text.contains("\n  \(verb.rawValue) ")) }
        for code in ExitCode.allCases { #expect(text.contains("\n  \(code.rawValue)")) }
    }

    @Test(arguments: Verb.allCases)
    func aCommandsHelpNamesEveryOptionOfIt(verb: Verb) {
        let text = HelpText.help(for: verb)
        #expect(text.contains("Usage: ftw-mqtt \(verb.rawValue)"))
        for option in verb.spec.options { #expect(text.contains(option.long)) }
        #expect(text.hasSuffix("\n") && !text.contains("\n\n\n"))
    }

    @Test(arguments: Verb.allCases)
    func helpFitsAnOldTerminal(verb: Verb) {
        for text in [HelpText.overview(), HelpText.help(for: verb)] {
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }

    @Test(arguments: Verb.allCases)
    func everyExampleIsUnderstood(verb: Verb) throws {
        for example in verb.spec.examples {
            var line = example.line
            for before in ["sudo -u ftw-mqtt ", "runuser -u ftw-mqtt -- "] where line.hasPrefix(before) {
                line.removeFirst(before.count)
            }
            let words = line.replacing("'", with: "").split(separator: " ").map(String.init)
            #expect(words.first == "ftw-mqtt")
            _ = try Invocation.parse(Array(words.dropFirst()))
        }
    }

    @Test func everyOptionBelongsSomewhereOnce() {
        for verb in Verb.allCases {
            let names = verb.spec.options.map(\.name)
            #expect(Set(names).count == names.count && names.contains(.help))
        }
        let used = Set(Verb.allCases.flatMap { $0.spec.options.map(\.name) })
        // `version` is understood before any command.
        #expect(used.union([.version]) == Set(OptionSpec.Name.allCases))
    }

    @Test func pairingSaysHowToKeepTheLinkOutOfTheProcessList() {
        let text = HelpText.help(for: .pair).replacing("\n", with: " ")
        #expect(text.contains("process list") && text.contains("ftw-mqtt pair -"))
    }

    @Test func exitCodesKeepTheirMeaning() {
        #expect(ExitCode.allCases.map(\.rawValue) == Array(0...7))
        #expect(ExitCode.usage.rawValue == 2 && ExitCode.configuration.rawValue == 3)
    }
}
