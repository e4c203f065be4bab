import BoxLink
import Testing

@testable import BoxSimulator

@Suite struct RelayRoomsTests {
    static let epoch: Int64 = 500_000
    static let handle = "80000000000000000000000000000000"

    static func path(
        _ end: RelaySettings.End, epoch: Int64 = epoch, handle: String = handle
    ) -> String { Rendezvous.path(epoch: epoch, handle: handle, end: end) }

    private func rooms(_ change: (inout RelayRooms.Limits) -> Void = { _ in }) -> RelayRooms {
        var limits = RelayRooms.Limits()
        change(&limits)
        return RelayRooms(limits: limits, epoch: Self.epoch)
    }
    private func join(
        _ rooms: inout RelayRooms, _ id: Int, _ end: RelaySettings.End, address: String = "a",
        at now: Duration = .zero
    ) -> [RelayRooms.Action] {
        rooms.connected(id, path: Self.path(end), address: address, at: now)
    }

    @Test func aClientIsToldOnlyOfChanges() {
        var rooms = rooms()
        #expect(join(&rooms, 1, .app) == [])
        #expect(join(&rooms, 2, .box) == [.sendText(1, "ready")])
        #expect(join(&rooms, 3, .app) == [.sendText(3, "ready")])
        #expect(rooms.left(2) == [.sendText(1, "gone"), .sendText(3, "gone")])
        #expect(rooms.left(2) == [])
        #expect(join(&rooms, 4, .app) == [])
        #expect(
            join(&rooms, 5, .box) == [.sendText(1, "ready"), .sendText(3, "ready"), .sendText(4, "ready")])
    }

    @Test func theBoxIsHeardByAllClientsAndAClientByTheBoxAlone() {
        var rooms = rooms()
        for id in 1...2 { _ = join(&rooms, id, .app) }
        #expect(rooms.received([1], from: 1, at: .zero) == [])
        _ = join(&rooms, 3, .box)
        #expect(rooms.received([1], from: 1, at: .zero) == [.send(3, [1])])
        #expect(rooms.received([2], from: 3, at: .zero) == [.send(1, [2]), .send(2, [2])])
        #expect(rooms.received([3], from: 99, at: .zero) == [])
    }

    @Test func roomsDoNotHearEachOther() {
        var rooms = rooms()
        _ = join(&rooms, 1, .app)
        let other = Self.path(.box, handle: "00000000000000000000000000000000")
        #expect(rooms.connected(2, path: other, address: "b", at: .zero) == [])
        #expect(rooms.received([1], from: 2, at: .zero) == [])
        #expect(rooms.roomCount == 2)
    }

    @Test(arguments: [
        "", "/", "/r", "/r/500000/80000000000000000000000000000000", "/r/x/\(handle)/app",
        "/r/500000/\(handle)/tv",
        "/r/500000/ABCDEF00000000000000000000000000/app", "/r/500000/8000/app",
        "/r/500000/\(handle)/app/more",
        "/r/+500000/\(handle)/app", "/r//\(handle)/app", "/r/99999999999999999999/\(handle)/app",
    ])
    func aWrongPathIsNoRoom(path: String) {
        var rooms = rooms()
        #expect(
            rooms.connected(1, path: path, address: "a", at: .zero) == [.close(1, code: 4400, reason: "join")]
        )
        #expect(rooms.peerCount == 0)
    }

    @Test func aQueryIsIgnored() {
        var rooms = rooms()
        #expect(rooms.connected(1, path: Self.path(.app) + "?x=/y", address: "a", at: .zero) == [])
        #expect(rooms.peerCount == 1)
    }

    @Test(arguments: [-1, 1, 2, -500_001] as [Int64])
    func anotherHourIsCorrected(offset: Int64) {
        var rooms = rooms()
        let path = Self.path(.app, epoch: Self.epoch + offset)
        #expect(
            rooms.connected(1, path: path, address: "a", at: .zero) == [
                .close(1, code: 4409, reason: "500000")
            ])
    }

    @Test func theFifthClientAndTheSecondBoxAreSentAway() {
        var rooms = rooms()
        for id in 1...4 { #expect(join(&rooms, id, .app) == []) }
        #expect(join(&rooms, 5, .app) == [.close(5, code: 4429, reason: "streams")])
        _ = join(&rooms, 6, .box)
        #expect(join(&rooms, 7, .box) == [.close(7, code: 4429, reason: "uplink")])
        _ = rooms.left(1)
        #expect(join(&rooms, 8, .app) == [.sendText(8, "ready")])
    }

    @Test func socketsAreCountedPerAddressAndInAll() {
        var rooms = rooms {
            $0.socketsPerAddress = 2
            $0.sockets = 3
            $0.clientsPerRoom = 100
        }
        for id in 1...2 { _ = join(&rooms, id, .app, address: "a") }
        #expect(join(&rooms, 3, .app, address: "a") == [.close(3, code: 4429, reason: "full")])
        #expect(join(&rooms, 4, .app, address: "b") == [])
        #expect(join(&rooms, 5, .app, address: "c") == [.close(5, code: 4429, reason: "full")])
    }

    @Test func thirtyAttemptsAMinuteAreEnough() {
        var rooms = rooms()
        for id in 1...30 {
            #expect(join(&rooms, id, .app, at: .seconds(id)) == [])
            _ = rooms.left(id)
        }
        #expect(join(&rooms, 31, .app, at: .seconds(31)) == [.close(31, code: 4429, reason: "slow down")])
        #expect(join(&rooms, 32, .app, address: "b", at: .seconds(31)) == [])
        #expect(join(&rooms, 33, .app, at: .seconds(100)) == [])
    }

    @Test func framesComeFromABucket() {
        var rooms = rooms()
        _ = join(&rooms, 1, .box)
        for _ in 1...240 { #expect(rooms.received([0], from: 1, at: .zero) == []) }
        #expect(rooms.received([0], from: 1, at: .milliseconds(20)) == [])
        #expect(
            rooms.received([0], from: 1, at: .milliseconds(20)) == [.close(1, code: 4429, reason: "rate")])
        #expect(rooms.peerCount == 0)
    }

    @Test func bytesComeFromABucketToo() {
        var rooms = rooms()
        _ = join(&rooms, 1, .app)
        let longest = [UInt8](repeating: 0, count: 65_536)
        for _ in 1...64 { #expect(rooms.received(longest, from: 1, at: .zero) == []) }
        #expect(rooms.received(longest, from: 1, at: .zero) == [.close(1, code: 4429, reason: "rate")])
    }

    @Test func offencesAreClosedAndTheOthersAreTold() {
        var rooms = rooms()
        _ = join(&rooms, 1, .app)
        _ = join(&rooms, 2, .box)
        #expect(rooms.receivedText(from: 2) == [])
        #expect(rooms.receivedText(from: 1) == [.close(1, code: 4400, reason: "binary only")])
        _ = join(&rooms, 3, .app)
        let tooLong = [UInt8](repeating: 0, count: 65_537)
        #expect(
            rooms.received(tooLong, from: 2, at: .zero) == [
                .close(2, code: 1009, reason: ""), .sendText(3, "gone"),
            ])
        #expect(rooms.readsTooSlowly(3) == [.close(3, code: 4429, reason: "slow reader")])
        #expect(rooms.readsTooSlowly(3) == [])
    }

    @Test func whoDoesNotAnswerAPingIsDroppedAtTheNext() {
        var rooms = rooms()
        _ = join(&rooms, 1, .app)
        _ = join(&rooms, 2, .box)
        #expect(
            rooms.heartbeat(at: .seconds(15), epoch: Self.epoch, sinceTurn: .zero) == [.ping(1), .ping(2)])
        rooms.pong(from: 1)
        let next = rooms.heartbeat(at: .seconds(30), epoch: Self.epoch, sinceTurn: .zero)
        #expect(next == [.ping(1), .terminate(2), .sendText(1, "gone")])
    }

    @Test func anOldRoomClosesInItsPartOfTheSpread() {
        var rooms = rooms()
        _ = join(&rooms, 1, .app)
        _ = join(&rooms, 2, .box)
        // The turn was 10 s ago; handle 8000… closes half of 300 s after it.
        _ = rooms.heartbeat(at: .seconds(15), epoch: Self.epoch + 1, sinceTurn: .seconds(10))
        #expect(rooms.nextClosing == .seconds(155))
        #expect(join(&rooms, 3, .app) == [.close(3, code: 4409, reason: "500001")])
        #expect(rooms.closeDueRooms(at: .seconds(154)) == [])
        #expect(
            rooms.closeDueRooms(at: .seconds(155)) == [
                .close(1, code: 4410, reason: "500001"), .close(2, code: 4410, reason: "500001"),
            ])
        #expect(rooms.peerCount == 0)
    }

    @Test func aCrashForgetsEverybody() {
        var rooms = rooms()
        _ = join(&rooms, 1, .app)
        _ = join(&rooms, 2, .box)
        #expect(rooms.dropAll() == [.terminate(1), .terminate(2)])
        #expect(rooms.peerCount == 0)
        #expect(rooms.left(1) == [])
    }
}
