import Testing

@testable import BoxLink

@Suite struct WebSocketURLTests {
    @Test(arguments: [
        ("wss://relay.ftw.energy", "relay.ftw.energy", 443, "wss://relay.ftw.energy"),
        ("wss://Relay.Example:8443/", "relay.example", 8443, "wss://relay.example:8443"),
        ("ws://localhost:8787", "localhost", 8787, "ws://localhost:8787"),
        ("ws://127.0.0.1", "127.0.0.1", 80, "ws://127.0.0.1"),
        ("ws://[::1]:8787", "::1", 8787, "ws://[::1]:8787"),
    ])
    func readsSchemeHostAndPort(text: String, host: String, port: Int, written: String) throws {
        let url = try WebSocketURL(parsing: text)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.isSecure == text.hasPrefix("wss"))
        #expect(url.description == written)
    }

    @Test(arguments: [
        ("https://relay", WebSocketURLError.scheme("https://relay")), ("", .scheme("")),
        ("wss://", .host("")), ("wss://a b", .host("a b")), ("wss://[::1", .host("[::1")),
        ("wss://h:0", .port("0")), ("wss://h:65536", .port("65536")), ("wss://h:", .port("")),
        ("wss://h:+1", .port("+1")), ("wss://h/r", .pathNotAllowed("wss://h/r")),
        ("wss://h?x", .pathNotAllowed("wss://h?x")), ("wss://me:secret@h", .userNotAllowed),
        ("ws://relay.lan", .plainNotAllowed("relay.lan")),
        ("ws://127.0.0.1.evil.org", .plainNotAllowed("127.0.0.1.evil.org")),
    ])
    func saysWhatIsWrong(text: String, error: WebSocketURLError) {
        #expect(throws: error) { try WebSocketURL(parsing: text) }
        #expect(!error.description.contains("secret"))
    }

    @Test func plainIsAllowedWhereSomebodyAsksForIt() throws {
        #expect(try WebSocketURL(parsing: "ws://relay.lan:8787", allowPlain: true).host == "relay.lan")
    }
}

@Suite struct BoundedInboxTests {
    private func inbox(_ bound: Int) -> BoundedInbox<CarrierEvent> {
        BoundedInbox(bound: bound) { event in
            switch event {
            case .message: .droppable
            case .joined, .ready, .gone: .kept
            case .lost: .breaking
            }
        }
    }
    private let loss = CarrierEvent.lost(.init(cause: .closed, sentence: "", retryIn: .zero))

    private func drain(_ inbox: BoundedInbox<CarrierEvent>) -> [CarrierEvent] {
        var all: [CarrierEvent] = []
        while let event = inbox.poll() { all.append(event) }
        return all
    }

    @Test func theOldestMessageGoesFirst() {
        let inbox = inbox(3)
        for event in [.ready, .message([1]), .message([2]), .message([3])] as [CarrierEvent] {
            inbox.push(event)
        }
        #expect(drain(inbox) == [.ready, .message([2]), .message([3])])
        #expect(inbox.droppedCount == 1)
    }

    @Test func whatLiesBeforeALossGoesBeforeAnythingElse() {
        let inbox = inbox(4)
        for event in [.joined, .message([1]), loss, .joined, .ready] as [CarrierEvent] { inbox.push(event) }
        #expect(drain(inbox) == [loss, .joined, .ready])
    }

    @Test func wordsAloneDoNotGrowWithoutBound() {
        let inbox = inbox(3)
        inbox.push(loss)
        for _ in 0..<100 {
            inbox.push(.ready)
            inbox.push(.gone)
        }
        inbox.push(.ready)
        #expect(drain(inbox) == [loss, .gone, .ready])
    }

    @Test func theEndIsToldAfterWhatIsLeft() async {
        let inbox = inbox(3)
        inbox.push(.joined)
        inbox.finish()
        inbox.push(.ready)
        #expect(await inbox.next() == .joined)
        #expect(await inbox.next() == nil)
    }
}
