import JSONText
public import MQTTTypes

/// What a site's bridge has left on the broker, for taking it all away again.
public enum LeftBehind {
    /// Under which name the bridge's memory has it.
    public static let memoryName = BridgeMachine.announcedName

    /// Empty retained messages for every topic and discovery topic of the site,
    /// discovery first, so that nothing is shown as broken in between.
    ///
    /// - Parameters:
    ///   - memory: The memory of that site's bridge.
    ///   - empty: Topics of ``doubtful(_:)`` on which there is nothing any more. To
    ///     Home Assistant, emptying the announcement of a device it does not have is an error.
    public static func clearing(_ memory: any BridgeMemory, empty: Set<String> = []) -> [Message] {
        let announced = Announced(memory.load(BridgeMachine.announcedName))
        let discovery = Set(announced.devices.keys)
        let rest = announced.topics.union(announced.cleared.keys).subtracting(discovery).subtracting(empty)
        return (discovery.sorted() + rest.sorted()).map {
            Message($0, [], qos: .atLeastOnce, retained: true)
        }
    }

    /// Announcements that were emptied before, and are only to be emptied again if
    /// the broker still has them.
    public static func doubtful(_ memory: any BridgeMemory) -> [String] {
        Announced(memory.load(BridgeMachine.announcedName)).cleared.keys.filter(Announced.isDevice).sorted()
    }
}
