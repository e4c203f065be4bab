import JSONText
public import MQTTTypes

/// What a site's bridge has left on the broker, for taking it all away again.
public enum LeftBehind {
    /// Empty retained messages for every topic and discovery topic of the site,
    /// discovery first, so that nothing is shown as broken in between.
    ///
    /// - Parameter memory: The memory of that site's bridge.
    public static func clearing(_ memory: any BridgeMemory) -> [Message] {
        let announced = Announced(memory.load(BridgeMachine.announcedName))
        let discovery = Set(announced.devices.keys)
        let rest = announced.topics.union(announced.cleared.keys).subtracting(discovery)
        return (discovery.sorted() + rest.sorted()).map {
            Message($0, [], qos: .atLeastOnce, retained: true)
        }
    }
}
