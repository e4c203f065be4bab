import Glibc
import Testing

@testable import Daemon

@Suite struct SignalDeskTests {
    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func whereNobodyListensTheFirstSignalEndsTheProcess(number: Int32) {
        var desk = SignalDesk()
        #expect(desk.arrived(number) == .end(128 + number))
    }

    @Test func whatComesBeforeTheListenerIsKeptForIt() {
        var desk = SignalDesk(isListenerExpected: true)
        #expect(desk.arrived(SIGHUP) == .keep)
        for _ in 0..<20 { #expect(desk.arrived(SIGHUP) == .keep) }
        #expect(desk.arrived(SIGTERM) == .keep)
        #expect(desk.listens() == [.reload, .stop])
        #expect(desk.arrived(SIGHUP) == .tell(.reload))
        #expect(desk.listens() == [])
    }

    @Test func aListenerHearsTwoStopsAndTheThirdEndsTheProcess() {
        var desk = SignalDesk(isListenerExpected: true)
        #expect(desk.listens() == [])
        #expect(desk.arrived(SIGTERM) == .tell(.stop))
        #expect(desk.arrived(SIGHUP) == .tell(.reload))
        #expect(desk.arrived(SIGINT) == .tell(.stop))
        #expect(desk.arrived(SIGTERM) == .end(143))
    }

    @Test func theThirdStopEndsAProcessThatNeverCameToListen() {
        var desk = SignalDesk(isListenerExpected: true)
        #expect(desk.arrived(SIGINT) == .keep)
        #expect(desk.arrived(SIGINT) == .keep)
        #expect(desk.arrived(SIGINT) == .end(130))
    }

    @Test(arguments: ["demo", "run", "", "--plain"]) func theDaemonAndTheDemoListen(line: String) throws {
        #expect(try Invocation.parse(line.split(separator: " ").map(String.init)).listensToSignals)
    }

    @Test(arguments: ["pair -", "check", "status", "send a control plan", "unpair home", "version", "help"])
    func everythingElseEndsWhereItIs(line: String) throws {
        #expect(try !Invocation.parse(line.split(separator: " ").map(String.init)).listensToSignals)
    }
}
