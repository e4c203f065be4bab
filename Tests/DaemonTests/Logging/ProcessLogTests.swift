import Ambient
import Synchronization
import Testing

@testable import Daemon

@Suite struct ProcessLogTests {
    final class Lines: Sendable {
        private let all = Mutex<[String]>([])
        func add(_ bytes: [UInt8]) { all.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
        var taken: [String] { all.withLock { $0 } }
    }
    let lines = Lines()

    private func make(_ style: ProcessLog.Style, _ threshold: LogLevel = .debug) -> ProcessLog {
        let lines = lines
        return ProcessLog(
            style: style, threshold: threshold, now: { "2026-11-30 07:44:02" }, write: { lines.add($0) })
    }

    @Test(arguments: [
        (LogLevel.error, "<3>x\n"), (.warning, "<4>x\n"), (.notice, "<5>x\n"), (.info, "<6>x\n"),
        (.debug, "<7>x\n"),
    ])
    func theJournalGetsItsPriority(level: LogLevel, line: String) {
        make(.journal).log(level, "x")
        #expect(lines.taken == [line])
    }

    @Test func aPersonGetsTimeAndLevel() {
        make(.plain).log.info("broker is back")
        make(.plain).log.warning("broker is away")
        make(.colour).log.error("x")
        #expect(
            lines.taken == [
                "2026-11-30 07:44:02 info    broker is back\n",
                "2026-11-30 07:44:02 warning broker is away\n",
                "2026-11-30 07:44:02 \u{1B}[31merror  \u{1B}[0m x\n",
            ])
    }

    @Test func theLevelCanChangeWhileRunning() {
        let process = make(.journal, .notice)
        let log = process.log
        log.info("a")
        process.level = .info
        log.info("b")
        #expect(log.threshold == .info)
        process.level = .error
        log.warning("c")
        #expect(lines.taken == ["<6>b\n"])
    }

    @Test func aLineThatNobodyWantsIsNotBuilt() {
        let log = make(.journal, .info).log
        func build() -> String {
            Issue.record("built")
            return ""
        }
        log.debug(build())
    }

    @Test(arguments: [
        ("a\nb", "a / b"), ("a\r\n<3>forged", "a  / <3>forged"), ("\u{1B}[2J\u{7}x", " [2J x"),
        ("a\u{202E}b", "a b"),
        ("å ✓ 日", "å ✓ 日"), ("a\u{2028}b\u{85}", "a b "), ("\u{0}", " "),
    ])
    func oneMessageIsOneLineAndCannotForgeAnother(text: String, expected: String) {
        make(.journal).log.info(text)
        #expect(lines.taken == ["<6>\(expected)\n"])
    }

    @Test func aKnownSecretDoesNotGetThrough() {
        let process = make(.journal)
        process.redactor.add(Array("hunter2-secret".utf8))
        process.log.debug("password hunter2-secret and aHVudGVyMi1zZWNyZXQ=")
        #expect(lines.taken == ["<7>password *** and ***\n"])
    }

    // MARK: Where the log goes

    static let here = ProcessLog.Destination(device: 8, inode: 1234)

    @Test(
        arguments: [
            ([:], here, ProcessLog.Style.plain),
            (["JOURNAL_STREAM": "8:1234"], here, .journal),
            (["JOURNAL_STREAM": "8:1234"], ProcessLog.Destination(device: 8, inode: 99), .plain),
            (
                ["JOURNAL_STREAM": "8:1234", "NOTIFY_SOCKET": "/run/x"],
                ProcessLog.Destination(device: 8, inode: 99), .plain
            ),
            (["JOURNAL_STREAM": "8:1234"], nil, .plain),
            (["JOURNAL_STREAM": "garbage"], here, .plain), (["JOURNAL_STREAM": "8:x"], here, .plain),
            (["JOURNAL_STREAM": ""], here, .plain),
            (["NOTIFY_SOCKET": "@x"], here, .journal), (["NOTIFY_SOCKET": ""], here, .plain),
        ] as [([String: String], ProcessLog.Destination?, ProcessLog.Style)])
    func theStyleFollowsStandardError(
        environment: [String: String], destination: ProcessLog.Destination?, style: ProcessLog.Style
    ) {
        let pipe = Terminal(isTerminal: false, windowColumns: nil, environment: environment)
        #expect(ProcessLog.style(environment: environment, destination: destination, terminal: pipe) == style)
    }

    @Test func aTerminalIsForAPerson() {
        let environment = ["NOTIFY_SOCKET": "@x", "NO_COLOR": "1"]
        for (environment, style) in [
            (["JOURNAL_STREAM": "8:1234"], ProcessLog.Style.colour), (environment, .plain),
        ] {
            let terminal = Terminal(isTerminal: true, windowColumns: 80, environment: environment)
            #expect(
                ProcessLog.style(environment: environment, destination: Self.here, terminal: terminal)
                    == style)
        }
    }

    @Test func theLocalTimeHasItsShape() {
        let text = LocalTime.now()
        #expect(text.count == 19 && text.utf8.filter { $0 >= 0x30 && $0 <= 0x39 }.count == 14)
    }
}
