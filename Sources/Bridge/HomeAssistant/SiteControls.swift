import EnergyModel
import JSONText

/// What a person can do with the site; unavailable while the box would refuse it.
struct SiteControls {
    let modes: [String]
    let language: Language
    let open: Set<CommandName>

    /// The mode among those that the box lists; without a list there is nothing to choose from.
    var all: [Entity] {
        guard open.contains(.mode), !modes.isEmpty else { return [] }
        return [
            Entity(
                key: "mode_choice", platform: .select,
                name: LocalText("Choose mode", "Välj driftläge")[language], place: .init(.mode),
                template: "{{ value_json.label if value_json.live else none }}", layers: .box(sources: []),
                options: modes, icon: "mdi:tune", control: .init(place: .init(.modeSet)),
                needs: [.taken(.init(.siteTakes), .mode)])
        ]
    }
}
