import JSONText

extension JSONValue {
    /// A discovery document in Home Assistant's short spelling, for a broker that
    /// takes only small packets. Means the same in fewer bytes.
    var abbreviatedDiscovery: JSONValue { Self.shorten(self, keysAreOptions: true) }

    /// Home Assistant's own abbreviations of the options used here.
    static let discoveryAbbreviations: [String: String] = [
        "availability": "avty", "availability_mode": "avty_mode", "command_template": "cmd_tpl",
        "command_topic": "cmd_t", "components": "cmps", "default_entity_id": "def_ent_id",
        "device": "dev", "device_class": "dev_cla", "enabled_by_default": "en", "entity_category": "ent_cat",
        "event_types": "evt_typ", "icon": "ic", "identifiers": "ids",
        "json_attributes_template": "json_attr_tpl",
        "json_attributes_topic": "json_attr_t", "manufacturer": "mf",
        "message_expiry_interval": "msg_exp_int",
        "model": "mdl", "options": "ops", "origin": "o", "payload_available": "pl_avail",
        "payload_not_available": "pl_not_avail", "payload_off": "pl_off", "payload_on": "pl_on",
        "payload_press": "pl_prs", "platform": "p", "state_class": "stat_cla", "state_off": "stat_off",
        "state_on": "stat_on", "state_topic": "stat_t", "suggested_display_precision": "sug_dsp_prc",
        "sw_version": "sw", "topic": "t", "unique_id": "uniq_id", "unit_of_measurement": "unit_of_meas",
        "value_template": "val_tpl",
    ]

    /// - Parameter keysAreOptions: False for the components, whose keys are names of ours.
    private static func shorten(_ value: JSONValue, keysAreOptions: Bool) -> JSONValue {
        switch value {
        case .array(let items): return .array(items.map { shorten($0, keysAreOptions: true) })
        case .object(let members):
            var short: [String: JSONValue] = [:]
            for (name, member) in members {
                let key = keysAreOptions ? discoveryAbbreviations[name] ?? name : name
                short[key] = shorten(member, keysAreOptions: !(keysAreOptions && name == "components"))
            }
            return .object(short)
        default: return value
        }
    }
}
