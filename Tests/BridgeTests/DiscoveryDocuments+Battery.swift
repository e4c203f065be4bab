extension DiscoveryDocuments {
    /// Its battery, in Swedish.
    static let battery = #"""
        {
         "availability": [{"topic": "ftw/home/bridge/availability"}, {"topic": "ftw/home/box/availability"}],
         "availability_mode": "all",
         "components": {
          "battery_charge_power": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/store/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_battery_charge_power",
           "device_class": "power",
           "name": "Laddeffekt",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/power",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_battery_charge_power",
           "unit_of_measurement": "W",
           "value_template": "{{ [value_json.battery, 0] | max if value_json.live and value_json.battery is not none else none }}"
          },
          "battery_discharge_power": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/store/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_battery_discharge_power",
           "device_class": "power",
           "name": "Urladdningseffekt",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/power",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_battery_discharge_power",
           "unit_of_measurement": "W",
           "value_template": "{{ [-value_json.battery, 0] | max if value_json.live and value_json.battery is not none else none }}"
          },
          "battery_level": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/store/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_battery_level",
           "device_class": "battery",
           "name": "Nivå",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/battery",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_battery_level",
           "unit_of_measurement": "%",
           "value_template": "{{ value_json.level if value_json.live else none }}"
          },
          "battery_power": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/store/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_battery_power",
           "device_class": "power",
           "name": "Effekt",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/power",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_battery_power",
           "unit_of_measurement": "W",
           "value_template": "{{ value_json.battery if value_json.live and value_json.battery is not none else none }}"
          }
         },
         "device": {
          "identifiers": ["ftw_0123456789abcdef_battery"],
          "manufacturer": "FTW",
          "model": "Hemmabatteri",
          "name": "Hemmabatteri",
          "via_device": "ftw_0123456789abcdef"
         },
         "origin": {
          "name": "ftw-mqtt",
          "support_url": "https://example.org/ftw-mqtt",
          "sw_version": "0.1.0"
         }
        }
        """#
}
