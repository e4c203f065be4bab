import EnergyModel
import FoundationEssentials
import JSONText
import MQTTTypes
import Testing

@testable import Bridge

@Suite struct TopicTreeTests {
    let tree = TopicTree(base: "ftw", site: "home")

    @Test func everyNameHasExactlyOneRow() {
        #expect(TopicTree.table.map(\.name.rawValue).sorted() == TopicName.allCases.map(\.rawValue).sorted())
    }

    @Test func topicsAreTheirPatternBelowTheSite() {
        #expect(tree.topic(.power) == "ftw/home/power")
        #expect(tree.topic(.init(.source, TopicLevel("pv"))) == "ftw/home/source/pv")
        #expect(
            tree.topic(.init(.sourceAvailability, TopicLevel("pv"))) == "ftw/home/source/pv/availability")
        #expect(TopicTree(base: "a/b", site: "Ö 1").topic(.power).hasPrefix("a/b/o-1-"))
        #expect(tree.path(of: "ftw/home/power") == "power")
        #expect(tree.path(of: "ftw/home2/power") == nil)
    }

    @Test func commandTopicsAreTheStateTopicAndAWord() {
        for row in TopicTree.table {
            let path = row.name.rawValue.replacing("<id>", with: "garage")
            let isCommand = path.hasSuffix("/set") || path.hasSuffix("/adjust")
            #expect(isCommand == (CommandTopic(path: path) != nil), "\(path)")
            #expect(!isCommand || row.direction == .request, "\(path)")
            for verb in row.commands {
                #expect(TopicName(rawValue: "\(row.name.rawValue)/\(verb)")?.spec.direction == .request)
            }
        }
    }

    @Test func requestsAndResultsAreNotRetainedAndStatesAre() {
        for row in TopicTree.table {
            #expect(row.isRetained == (row.direction == .state && row.name != .result))
        }
    }

    @Test func membersOfADocumentAreDistinctLowerSnakeCase() {
        for row in TopicTree.table {
            let names = row.members.map(\.name)
            #expect(Set(names).count == names.count)
            #expect(names.allSatisfy { $0.allSatisfy { $0.isLowercase || $0 == "_" } })
        }
    }

    /// Windows are looked for in the next 24 hours, and each flow has a sign of its own: both are said
    /// where people read, because nothing else there tells.
    @Test func pagesSayTheHorizonAndTheSigns() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        for (page, words) in [
            ("README.md", "of the next 24 hours"), ("config/topics.en.md", "of the next 24 hours"),
            ("config/topics.sv.md", "de närmaste 24"), ("config/config.yaml", "the next 24 hours"),
            ("config/home-assistant/energy.md", "of the next 24 hours"),
        ] {
            let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
            #expect(text.contains(words), "\(page)")
            #expect(!text.contains("flows into the site") && !text.contains("flödar in i"), "\(page)")
            #expect(!text.contains("positive into the site"), "\(page)")
        }
        for member in TopicName.power.spec.members
        where ["grid", "solar", "battery", "car", "house"]
            .contains(member.name)
        {
            #expect(member.meaning.en.contains("positive") && member.meaning.sv.contains("positiv"))
        }
    }

    /// Every document has exactly the members of its row, whatever is known.
    @Test(arguments: [true, false])
    func documentsAreWhatTheTableSays(isKnown: Bool) {
        var bench = Bench()
        if isKnown { bench.see(house()) }
        var sent = bench.connect()
        sent += bench.feed(.message(Message("ftw/home/bridge/request/ping", "")))
        for row in TopicTree.table where !row.members.isEmpty && !row.name.rawValue.hasPrefix("car/") {
            let path = row.name == .source ? "source/pv" : row.name.rawValue.replacing("<n>", with: "2")
            if row.name == .source, !isKnown { continue }
            let documents = sent.documents(path)
            #expect(!documents.isEmpty, "\(path)")
            for document in documents {
                #expect(document.objectValue?.keys.sorted() == row.members.map(\.name).sorted(), "\(path)")
            }
        }
    }

    @Test(arguments: Language.allCases)
    func theCheckedInPageIsTheTable(language: Language) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = folder.appending(path: "config/topics.\(language.rawValue).md")
        let text = TopicTree.documentation(language: language)
        if ProcessInfo.processInfo.environment["WRITE_TOPIC_PAGES"] != nil {
            try Data(text.utf8).write(to: page)
        }
        let checkedIn = String(decoding: try Data(contentsOf: page), as: UTF8.self)
        #expect(checkedIn == text, "run the tests once with WRITE_TOPIC_PAGES=1")
    }
}
