import FoundationEssentials
import Glibc
import JSONText
import TestSupport
import Testing

@testable import Persistence

@Suite struct StateDocumentTests {
    let outer: TemporaryFolder
    let folder: StateFolder
    let now = Date(timeIntervalSince1970: 1_796_023_000)

    init() throws {
        outer = try TemporaryFolder()
        folder = try StateFolder.open("\(outer.path)/state", for: .daemon)
    }

    private func load(format: Int = 2) throws -> LoadedDocument {
        try folder.load("a.json", kind: "memory", format: format, now: now)
    }

    @Test func aDocumentIsReadBackWithItsFormat() throws {
        #expect(try load() == .none)
        let body: JSONValue = ["x": [1, 2.5, "å", nil]]
        try folder.save("a.json", kind: "memory", format: 1, body)
        #expect(try load() == .document(body, format: 1))
        #expect(
            try folder.read("a.json")
                == Array("{\"body\":{\"x\":[1,2.5,\"å\",null]},\"format\":1,\"kind\":\"memory\"}\n".utf8))
    }

    @Test(arguments: [
        ("{\"kind\":\"pairing\",\"format\":1,\"body\":{}}\n", SetAside.Reason.foreign),
        ("{\"name\":\"somebody's\"}\n", .foreign),
        ("{\"kind\":\"memory\",\"format\":3,\"body\":{}}\n", .newer(format: 3)),
        (
            "{\"kind\":\"memory\",\"format\":99999999999999,\"body\":1,\"more\":2}\n",
            .newer(format: 99_999_999_999_999)
        ),
        ("{\"kind\":\"memory\",\"format\":0,\"body\":{}}\n", .damaged),
        ("{\"kind\":\"memory\",\"format\":\"1\",\"body\":{}}\n", .damaged),
        ("{\"kind\":\"memory\",\"format\":1}\n", .damaged),
        ("{\"kind\":\"memory\",\"format\":1,\"body\":{},\"extra\":1}\n", .damaged),
        ("{\"kind\":\"memory\",\"format\":1,\"body\":{}}", .damaged), ("[]\n", .damaged), ("", .damaged),
        ("\n", .damaged), ("\u{0}\u{0}\u{0}\n", .damaged),
    ])
    func whatCannotBeUsedIsSetAsideAndNamed(text: String, reason: SetAside.Reason) throws {
        try folder.write("a.json", Array(text.utf8))
        let expected = SetAside(
            folder: folder.path, name: "a.json", newName: "a.json.damaged-20261130T071640Z", reason: reason)
        #expect(try load() == .setAside(expected))
        #expect(try folder.read(expected.newName) == Array(text.utf8))
        #expect(try load() == .none)
    }

    @Test func theSentenceNamesBothFiles() {
        let file = SetAside(folder: "/s", name: "a", newName: "b", reason: .newer(format: 7))
        #expect(
            file.description
                == "/s/a was written by a newer version (format 7); it is kept as b and the bridge "
                + "goes on without it")
    }

    @Test func aSecondOneInTheSameSecondOverwritesNothing() throws {
        for text in ["first", "second", "third"] {
            try folder.write("a.json", Array(text.utf8))
            _ = try load()
        }
        #expect(
            try folder.names() == ["", "-2", "-3"].map { "a.json.damaged-20261130T071640Z\($0)" })
        #expect(try folder.read("a.json.damaged-20261130T071640Z-2") == Array("second".utf8))
    }

    @Test func anUnreadableFileIsAFaultAndStays() throws {
        try folder.write("a.json", Array("x".utf8))
        chmod("\(folder.path)/a.json", 0o644)
        #expect(throws: StateError.self) { try load() }
        #expect(try folder.names() == ["a.json"])
    }

    @Test func aHugeFileIsSetAside() throws {
        truncate("\(folder.path)/a.json", 0)
        try folder.write("a.json", [])
        truncate("\(folder.path)/a.json", off_t(StateFolder.maxBytes) + 1)
        guard case .setAside(let file) = try load() else {
            Issue.record("taken")
            return
        }
        #expect(file.reason == .damaged)
    }

    @Test(arguments: [
        (0.0, "1970-01-01T00:00:00Z"), (1_796_023_000.9, "2026-11-30T07:16:40Z"),
        (-5, "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"), (1e300, "9999-12-31T23:59:59Z"),
    ])
    func timesAreWrittenInUTCAndReadBack(seconds: Double, text: String) {
        #expect(UTCText.extended(Date(timeIntervalSince1970: seconds)) == text)
        #expect(UTCText.date(text).map(UTCText.extended) == text)
    }

    @Test(arguments: [
        "", "2026-02-30T00:00:00Z", "2026-11-30T07:16:40", "2026-11-30 07:16:40Z", "99999999999999999999",
    ])
    func otherTimesAreNotRead(text: String) { #expect(UTCText.date(text) == nil) }
}
