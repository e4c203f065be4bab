import MQTTTypes
import Testing

@testable import Bridge

@Suite struct EchoFilterTests {
    @Test func whatNeverComesBackIsForgotten() {
        var filter = EchoFilter()
        for second in 0..<1_000 {
            filter.published(Message("answers/\(second)", "{}"), now: .seconds(Int64(second)))
        }
        #expect(filter.topicCount <= 22)
    }

    @Test func aBurstIsBounded() {
        var filter = EchoFilter()
        for number in 0..<3 * EchoFilter.maxTopics {
            filter.published(Message("answers/\(number)", "{}"), now: .milliseconds(Int64(number / 10)))
        }
        #expect(filter.topicCount <= EchoFilter.maxTopics)
        let newest = Message("answers/\(3 * EchoFilter.maxTopics - 1)", "{}")
        let isKnown = filter.isEcho(newest, isLeftOut: false, now: .seconds(4))
        #expect(isKnown)
    }

    @Test func aBurstAtOneMomentIsBounded() {
        var filter = EchoFilter()
        for number in 0..<3 * EchoFilter.maxTopics {
            filter.published(Message("answers/\(number)", "{}"), now: .zero)
        }
        #expect(filter.topicCount <= EchoFilter.maxTopics)
    }

    @Test(arguments: [false, true]) func whatIsYoungIsStillKnown(isLeftOut: Bool) {
        var filter = EchoFilter()
        let message = Message("ftw/home/mode", "{}")
        filter.published(message, now: .seconds(9))
        filter.published(Message("ftw/home/power", "{}"), now: .seconds(18))
        let isKnown = filter.isEcho(message, isLeftOut: isLeftOut, now: .seconds(19))
        filter.published(message, now: .seconds(20))
        let isKnownLater = filter.isEcho(message, isLeftOut: isLeftOut, now: .milliseconds(30_001))
        #expect(isKnown && !isKnownLater)
    }
}
