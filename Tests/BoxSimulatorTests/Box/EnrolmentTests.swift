import FoundationEssentials
import Testing

@testable import BoxSimulator

/// An enrolment behind a reference, so that expectations may ask it.
private final class Desk {
    var list = Enrolment()
    func admits(key: [UInt8], payload: [UInt8], now: Duration, date: Date) -> Bool {
        list.admits(key: key, payload: payload, now: now, date: date)
    }
    func mint(_ bytes: [UInt8], kind: Enrolment.Kind, role: BoxRole, now: Duration) {
        list.mint(bytes, kind: kind, role: role, now: now)
    }
    func role(of key: [UInt8]) -> BoxRole? { list.role(of: key) }
    var hasLiveCode: Bool { list.hasLiveCode }
}

@Suite struct EnrolmentTests {
    private let owner: [UInt8] = [1]
    private let guest: [UInt8] = [2]
    private let code: [UInt8] = Array(repeating: 7, count: 16)
    private let date = Date(timeIntervalSince1970: 1_796_023_000)

    private func minted(_ role: BoxRole = .owner) -> Desk {
        let list = Desk()
        list.mint(code, kind: .scanned, role: role, now: .zero)
        return list
    }

    @Test func aCodeWorksOnce() {
        let list = minted()
        #expect(list.admits(key: owner, payload: code, now: .seconds(1), date: date))
        #expect(!list.admits(key: guest, payload: code, now: .seconds(1), date: date))
        #expect(!list.hasLiveCode)
        // The key is known now; what it presents no longer matters.
        #expect(list.admits(key: owner, payload: [], now: .seconds(900), date: date))
    }

    @Test func fiveWrongCodesBurnTheLiveOne() {
        let list = minted()
        for _ in 0..<4 { #expect(!list.admits(key: guest, payload: [0], now: .zero, date: date)) }
        #expect(list.hasLiveCode)
        #expect(!list.admits(key: guest, payload: [0], now: .zero, date: date))
        #expect(!list.admits(key: owner, payload: code, now: .zero, date: date))
    }

    @Test func aHandshakeWithoutACodeCountsAsNoAttempt() {
        let list = minted()
        for _ in 0..<9 { #expect(!list.admits(key: guest, payload: [], now: .zero, date: date)) }
        #expect(list.admits(key: owner, payload: code, now: .zero, date: date))
    }

    @Test(arguments: [(Enrolment.Kind.scanned, 599, true), (.scanned, 600, false), (.spoken, 300, false)])
    func codesExpire(kind: Enrolment.Kind, second: Int, isGood: Bool) {
        let list = Desk()
        list.mint(code, kind: kind, role: .owner, now: .zero)
        let isAdmitted = list.admits(key: owner, payload: code, now: .seconds(second), date: date)
        #expect(isAdmitted == isGood)
    }

    @Test func theFirstOneOwnsTheBoxWhateverTheCodeSaid() {
        let list = minted(.viewer)
        #expect(list.admits(key: owner, payload: code, now: .zero, date: date))
        #expect(list.role(of: owner) == .owner)
        list.mint(code, kind: .scanned, role: .viewer, now: .zero)
        #expect(list.admits(key: guest, payload: code, now: .zero, date: date))
        #expect(list.role(of: guest) == .viewer)
    }

    @Test func anotherCodeReplacesTheFirst() {
        let list = minted()
        list.mint([9], kind: .spoken, role: .owner, now: .zero)
        #expect(!list.admits(key: owner, payload: code, now: .zero, date: date))
        #expect(list.admits(key: owner, payload: [9], now: .zero, date: date))
    }
}
