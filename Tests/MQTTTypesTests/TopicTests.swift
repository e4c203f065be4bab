import MQTTTypes
import Testing

@Suite struct TopicTests {
    @Test(arguments: [
        "a", "/", "ftw/home/power", "ftw//power", " ", "$SYS/broker", "ftw/hem/laddare å",
        String(repeating: "x", count: 65_535),
    ])
    func aNameMayBePublished(_ name: String) { #expect(TopicName.isValid(name)) }

    @Test(arguments: [
        "", "a/+", "#", "a+b", "a#", "a\u{0}b", String(repeating: "x", count: 65_536),
        String(repeating: "å", count: 32_768),
    ])
    func whatIsNoNameIsRefused(_ name: String) { #expect(!TopicName.isValid(name)) }

    @Test(arguments: [
        "#", "+", "+/+", "a/#", "/#", "+/a/#", "a//b", "/", "$share/x/a",
        String(repeating: "y", count: 65_535),
    ])
    func aFilterIsAccepted(_ text: String) { #expect(TopicFilter(text)?.text == text) }

    @Test(arguments: [
        "", "a#", "a/#/b", "#/", "a+", "+a/b", "a/b+/c", "##", "++", "a\u{0}",
        String(repeating: "å", count: 32_768),
    ])
    func whatIsNoFilterIsRefused(_ text: String) { #expect(TopicFilter(text) == nil) }

    /// The examples of MQTT 5.0 §4.7.1 and §4.7.2, and our own topics.
    @Test(arguments: [
        ("sport/tennis/player1/#", "sport/tennis/player1", true),
        ("sport/tennis/player1/#", "sport/tennis/player1/ranking", true),
        ("sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", true),
        ("sport/#", "sport", true),
        ("#", "sport/tennis", true),
        ("#", "/", true),
        ("sport/tennis/+", "sport/tennis/player1", true),
        ("sport/tennis/+", "sport/tennis/player1/ranking", false),
        ("sport/+", "sport", false),
        ("sport/+", "sport/", true),
        ("+/+", "/finance", true),
        ("/+", "/finance", true),
        ("+", "/finance", false),
        ("+/tennis/#", "sport/tennis", true),
        ("#", "$SYS/monitor/Clients", false),
        ("+/monitor/Clients", "$SYS/monitor/Clients", false),
        ("$SYS/#", "$SYS/monitor", true),
        ("$SYS/monitor/+", "$SYS/monitor/Clients", true),
        ("a/b", "A/b", false),
        ("a/b", "a/b/", false),
        ("a/b/c", "a/b", false),
        ("a/$x/+", "a/$x/b", true),
        ("ftw/home/car/+/+/set", "ftw/home/car/garage/level/set", true),
        ("ftw/home/car/+/+/set", "ftw/home/car/garage/set", false),
        ("ftw/ö", "ftw/o\u{308}", false),
        ("ftw/+", "ftw/+", false),
        ("ftw/#", "", false),
    ])
    func aTopicBelongsToAFilter(_ text: String, _ topic: String, _ expected: Bool) throws {
        let filter = try #require(TopicFilter(text))
        #expect(filter.matches(topic) == expected)
    }
}
