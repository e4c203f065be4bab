import Testing

@testable import Configuration

@Suite struct ReloadTests {
    @Test(arguments: [
        ("", [], []),
        ("log: {level: debug}", ["log.level"], []),
        ("mqtt: {host: a}", [], ["mqtt.host"]),
        ("mqtt: {tls: true}", [], ["mqtt.tls"]),
        ("mqtt: {user: u, password: p}", [], ["mqtt.user", "mqtt.password"]),
        ("car: {read_interval: 90}\nlanguage: sv", ["car.read_interval"], ["language"]),
        ("sites: [{id: home, name: Home, read_only: true}]", ["sites.read_only"], []),
        ("sites: [{id: home, name: Hus}]", [], ["sites.name"]),
        ("sites: [{id: home, name: Home}, {id: b}]", [], ["sites"]),
        ("sites: [{id: b}]", [], ["sites"]),
        ("prices: {cheap_now: {under: 1}}", ["prices.cheap_now.level", "prices.cheap_now.under"], []),
    ])
    func theDifferenceNamesKeysAndWhatTheyNeed(text: String, live: [String], restart: [String]) throws {
        let new = try parse(text).settings
        #expect(reloadDifference(Settings(), new) == ReloadDifference(live: live, restart: restart))
    }

    @Test func takingOverLeavesExactlyWhatNeedsARestart() throws {
        let new = try parse(
            """
            language: sv
            read_only: true
            log: {level: error}
            mqtt: {host: a}
            sites: [{id: home, name: Hus, read_only: true}, {id: b}]
            commands: {allow: [], goal_consent: true}
            car: {read_interval: 5min}
            prices: {cheap_hours: [1], cheap_now: {window: 1}}
            """
        ).settings
        let before = reloadDifference(Settings(), new)
        let after = reloadDifference(Settings().reloaded(from: new), new)
        #expect(!before.live.isEmpty)
        #expect(after == ReloadDifference(live: [], restart: before.restart))
    }
}
