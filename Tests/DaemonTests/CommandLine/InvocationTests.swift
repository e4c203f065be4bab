import FoundationEssentials
import Testing

@testable import Daemon

@Suite struct InvocationTests {
    private func parse(_ line: String) throws(UsageError) -> Invocation {
        try Invocation.parse(line.split(separator: " ").map(String.init))
    }

    private func fault(_ words: [String]) -> UsageError? {
        do throws(UsageError) {
            _ = try Invocation.parse(words)
            return nil
        } catch {
            return error
        }
    }

    static let common = CommonOptions(config: "c.yaml", stateDir: "/s", logLevel: "debug", plain: true)

    static let understood: [(String, Invocation)] = [
        ("", .run(CommonOptions())),
        ("run", .run(CommonOptions())),
        ("--config c.yaml --state-dir=/s --log-level debug --plain", .run(common)),
        ("run -c c.yaml --state-dir /s --log-level=debug --plain", .run(common)),
        ("--help", .help(nil)), ("-h", .help(nil)), ("help", .help(nil)), ("help pair", .help(.pair)),
        ("pair --help", .help(.pair)), ("send a b c -h", .help(.send)), ("run --plain --help", .help(.run)),
        ("version", .version), ("--version", .version), ("-V", .version), ("version --help", .help(.version)),
        ("demo", .demo(DemoOptions())),
        (
            "demo --broker broker.lan:1884 --speed 60 --seconds 5 --language sv --log-level info --plain",
            .demo(
                DemoOptions(
                    broker: .init(host: "broker.lan", port: 1884), speed: 60, seconds: 5, language: "sv",
                    logLevel: "info", plain: true))
        ),
        ("demo --broker localhost", .demo(DemoOptions(broker: .init(host: "localhost", port: 1883)))),
        (
            "demo --broker [::1]:99 --speed 1.5",
            .demo(DemoOptions(broker: .init(host: "::1", port: 99), speed: 1.5))
        ),
        ("demo --port 1899", .demo(DemoOptions(port: 1899))),
        (
            "demo --console --no-bridge --relay-port 4711 --state box.json --no-print",
            .demo(
                DemoOptions(
                    console: true, noBridge: true, relayPort: 4_711, state: "box.json", noPrint: true))
        ),
        (
            "demo --start 2026-10-25T00:00:00+02:00",
            .demo(DemoOptions(start: Date(timeIntervalSince1970: 1_792_879_200)))
        ),
        ("pair -", .pair(PairOptions(source: .standardInput))),
        ("pair ./qr.png --site cabin", .pair(PairOptions(site: "cabin", source: .picture("./qr.png")))),
        ("pair v2.png", .pair(PairOptions(source: .picture("v2.png")))),
        (
            "pair https://app.ftw.energy/p#v2.a.b.c.d --relay wss://r --seconds 30 --replace -c x",
            .pair(
                PairOptions(
                    common: CommonOptions(config: "x"), source: .link("https://app.ftw.energy/p#v2.a.b.c.d"),
                    relay: "wss://r", seconds: 30, replace: true))
        ),
        ("pair v2.a.b.c.d", .pair(PairOptions(source: .link("v2.a.b.c.d")))),
        ("pair -- -odd.png", .pair(PairOptions(source: .picture("-odd.png")))),
        ("check --offline -s home", .check(CheckOptions(site: "home", offline: true))),
        (
            "status --site home --plain",
            .status(SiteOptions(common: CommonOptions(plain: true), site: "home"))
        ),
        ("send garage adjust -5", .send(SendOptions(loadpoint: "garage", command: "adjust", value: "-5"))),
        (
            "send garage control charge_now --expires 20 --id a1",
            .send(
                SendOptions(
                    loadpoint: "garage", command: "control", value: "charge_now", expiresS: 20, id: "a1"))
        ),
        (
            "send garage goal {\"level\":80, \"by\":1}",
            .send(SendOptions(loadpoint: "garage", command: "goal", value: "{\"level\":80, \"by\":1}"))
        ),
        (
            "send a-charging-point-with-a-name-of-forty-00 level 5",
            .send(
                SendOptions(
                    loadpoint: "a-charging-point-with-a-name-of-forty-00", command: "level", value: "5"))
        ),
        ("send mode self_consumption", .send(SendOptions(command: "mode", value: "self_consumption"))),
        ("unpair home --yes", .unpair(UnpairOptions(site: "home", yes: true))),
        ("unpair -y home", .unpair(UnpairOptions(site: "home", yes: true))),
    ]

    @Test(arguments: understood)
    func theLineIsUnderstood(line: String, invocation: Invocation) throws {
        #expect(try parse(line) == invocation)
    }

    static let refused: [(String, String)] = [
        ("demmo", "there is no command demmo; did you mean demo?"),
        (
            "frobnicate",
            "there is no command frobnicate; known are demo, run, pair, check, status, send, unpair, version"
        ),
        ("help demmo", "there is no command demmo; did you mean demo?"),
        (
            "https://app.ftw.energy/p#v2.a.b.c.d",
            "to pair a box, put pair before its link, or better: ftw-mqtt pair -"
        ),
        ("run now", "run takes no argument, but there is now"),
        ("--confg x", "run has no option --confg; did you mean --config?"),
        ("run --speed 5", "run has no option --speed; it belongs to ftw-mqtt demo"),
        ("run --zzzzzzzz", "run has no option --zzzzzzzz"),
        ("run -x", "run has no option -x"),
        ("run --config", "--config needs a value: --config FILE"),
        ("run --config=", "--config needs a value: --config FILE"),
        ("run --config --plain", "--config needs a value: --config FILE"),
        ("run --plain=yes", "--plain takes no value"),
        ("run -c a -c b", "--config is given twice"),
        ("run --log-level loud", "--log-level is loud; allowed are error, warning, notice, info, debug"),
        ("demo --speed 0", "--speed is 0; give a number from 1 to 120"),
        ("demo --speed nan", "--speed is nan; give a number from 1 to 120"),
        ("demo --speed -1", "--speed is -1; give a number from 1 to 120"),
        ("demo --seconds 1.5", "--seconds is 1.5; give a whole number from 1 to 86400"),
        ("demo --port 70000", "--port is 70000; give a whole number from 1 to 65535"),
        ("demo --broker a:b", "--broker is a:b; give a host and perhaps a port, such as localhost:1883"),
        (
            "demo --broker mqtt://a",
            "--broker is mqtt://a; give a host and perhaps a port, such as localhost:1883"
        ),
        ("demo --broker [::1", "--broker is [::1; give a host and perhaps a port, such as localhost:1883"),
        (
            "demo --broker a:1 --port 2",
            "--port is for the broker that the demo starts; with --broker, write HOST:PORT"
        ),
        ("demo --relay-port 0", "--relay-port is 0; give a whole number from 1 to 65535"),
        (
            "demo --start tomorrow",
            "--start is tomorrow; give a time with its zone, such as 2026-10-25T00:00:00+02:00"
        ),
        (
            "demo --start 2026-10-25T00:00:00",
            "--start is 2026-10-25T00:00:00; give a time with its zone, such as 2026-10-25T00:00:00+02:00"
        ),
        ("demo --console=yes", "--console takes no value"),
        ("demo --language de", "--language is de; allowed are en, sv"),
        ("pair", "give the link, a picture of its QR code, or - to read it from standard input"),
        ("pair a.png b.png", "pair takes one argument, but there are 2; put a text with spaces in quotes"),
        (
            "pair - --site Home",
            "--site is Home; an id is 1 to 32 of a-z, 0-9 and -, without - at either end, such as home"
        ),
        ("send", "write LOADPOINT COMMAND VALUE, such as: ftw-mqtt send garage control pause"),
        ("send garage", "write LOADPOINT COMMAND VALUE, such as: ftw-mqtt send garage control pause"),
        ("send garage contrl pause", "there is no command contrl for a loadpoint; did you mean control?"),
        (
            "send garage zzzzzz 1",
            "there is no command zzzzzz for a loadpoint; known are level, adjust, control, goal, surplus_only, boost"
        ),
        (
            "send garage level",
            "level needs a value; write LOADPOINT COMMAND VALUE, such as: ftw-mqtt send garage control pause"
        ),
        (
            "send a/b level 5",
            "a/b is not a loadpoint as its topics name it: 1 to 40 of a-z, 0-9 and -, without - at either end"
        ),
        ("send mode", "mode takes one key, such as: ftw-mqtt send mode self_consumption"),
        (
            "send garage level 5 --expires 31",
            "--expires is 31; give a whole number from 1 to 30: no bridge holds a command for longer than 30 s"
        ),
        ("unpair", "name the house to forget, such as: ftw-mqtt unpair home"),
        ("unpair a b", "unpair takes one argument, but there are 2; put a text with spaces in quotes"),
        (
            "unpair ../x",
            "../x is not the id of a house; an id is 1 to 32 of a-z, 0-9 and -, without - at either end, such as home"
        ),
    ]

    @Test(arguments: refused)
    func aWrongLineIsExplained(line: String, text: String) {
        #expect(fault(line.split(separator: " ").map(String.init))?.text == text)
    }

    @Test func theMessagePointsToTheRightHelp() {
        #expect(
            fault(["pair"])?.message
                == "give the link, a picture of its QR code, or - to read it from "
                + "standard input\nTry: ftw-mqtt pair --help")
        #expect(fault(["demmo"])?.message.hasSuffix("\nTry: ftw-mqtt --help") == true)
    }

    /// A link is a key to the house, wherever on the line it was put by mistake.
    @Test(arguments: [
        ["LINK"], ["run", "LINK"], ["pair", "LINK", "LINK"], ["pair", "--site", "LINK", "-"], ["--LINK"],
        ["unpair", "LINK"], ["send", "LINK", "level", "5"], ["send", "garage", "LINK", "5"],
        ["help", "LINK"],
        ["run", "--log-level", "LINK"], ["demo", "--speed=LINK"],
    ])
    func aLinkIsNeverRepeated(words: [String]) {
        for link in [
            "https://app.ftw.energy/p#v2.KEY.CODE.HINT.SECRET",
            "v2.KEYKEYKEYKEYKEYKEYKEY.CODE.HINT.SECRETSECRETSECRET",
        ] {
            let error = fault(words.map { $0.replacing("LINK", with: link) })
            #expect(error != nil && error?.message.contains("SECRET") == false)
        }
    }

    @Test func nothingOnTheLineCanTrap() {
        let odd = [
            "", "-", "--", "---", "-=", "--=", "=", "--help=1", "\u{0}", "é", "-é", "--config=\u{1B}[31m",
        ]
        for verb in [nil] + Verb.allCases.map({ Optional($0.rawValue) }) {
            for a in odd {
                for b in odd { _ = fault([verb, a, b].compactMap { $0 }) }
            }
        }
    }
}
