/// What Home Assistant is told about the house of the tests, whole.
enum DiscoveryDocuments {
    /// The site, in English.
    static let site = #"""
        {
         "availability": [{"topic": "ftw/home/bridge/availability"}, {"topic": "ftw/home/box/availability"}],
         "availability_mode": "all",
         "components": {
          "box_connected": {
           "availability": [{"topic": "ftw/home/bridge/availability"}],
           "default_entity_id": "binary_sensor.ftw_home_box_connected",
           "device_class": "connectivity",
           "entity_category": "diagnostic",
           "name": "Box connected",
           "payload_off": "offline",
           "payload_on": "online",
           "platform": "binary_sensor",
           "state_topic": "ftw/home/box/availability",
           "unique_id": "ftw_0123456789abcdef_box_connected"
          },
          "box_link": {
           "availability": [{"topic": "ftw/home/bridge/availability"}],
           "default_entity_id": "sensor.ftw_home_box_link",
           "device_class": "enum",
           "entity_category": "diagnostic",
           "json_attributes_topic": "ftw/home/box/link",
           "name": "Box link",
           "options": [
            "connecting",
            "waiting_for_box",
            "booting",
            "live",
            "lost",
            "revoked",
            "unpaired",
            "readonly",
            "floor"
           ],
           "platform": "sensor",
           "state_topic": "ftw/home/box/link",
           "unique_id": "ftw_0123456789abcdef_box_link",
           "value_template": "{{ value_json.state }}"
          },
          "box_link_since": {
           "availability": [{"topic": "ftw/home/bridge/availability"}],
           "default_entity_id": "sensor.ftw_home_box_link_since",
           "device_class": "timestamp",
           "entity_category": "diagnostic",
           "name": "Box link since",
           "platform": "sensor",
           "state_topic": "ftw/home/box/link",
           "unique_id": "ftw_0123456789abcdef_box_link_since",
           "value_template": "{{ value_json.since }}"
          },
          "box_version": {
           "availability": [{"topic": "ftw/home/bridge/availability"}],
           "default_entity_id": "sensor.ftw_home_box_version",
           "entity_category": "diagnostic",
           "icon": "mdi:information-outline",
           "name": "Box version",
           "platform": "sensor",
           "state_topic": "ftw/home/bridge/info",
           "unique_id": "ftw_0123456789abcdef_box_version",
           "value_template": "{{ value_json.box_build }}"
          },
          "bridge_version": {
           "availability": [{"topic": "ftw/home/bridge/availability"}],
           "default_entity_id": "sensor.ftw_home_bridge_version",
           "entity_category": "diagnostic",
           "icon": "mdi:information-outline",
           "name": "Bridge version",
           "platform": "sensor",
           "state_topic": "ftw/home/bridge/info",
           "unique_id": "ftw_0123456789abcdef_bridge_version",
           "value_template": "{{ value_json.version }}"
          },
          "car_power": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/charger/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_car_power",
           "device_class": "power",
           "name": "Car power",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/power",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_car_power",
           "unit_of_measurement": "W",
           "value_template": "{{ value_json.car if value_json.live and value_json.car is not none else none }}"
          },
          "control": {
           "availability": [{"topic": "ftw/home/bridge/availability"}],
           "default_entity_id": "sensor.ftw_home_control",
           "icon": "mdi:home-lightning-bolt",
           "json_attributes_topic": "ftw/home/control",
           "name": "Control",
           "platform": "sensor",
           "state_topic": "ftw/home/control",
           "unique_id": "ftw_0123456789abcdef_control",
           "value_template": "{{ value_json.sentence }}"
          },
          "grid_export_power": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/meter/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_grid_export_power",
           "device_class": "power",
           "name": "Grid export power",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/power",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_grid_export_power",
           "unit_of_measurement": "W",
           "value_template": "{{ [-value_json.grid, 0] | max if value_json.live and value_json.grid is not none else none }}"
          },
          "grid_import_power": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/meter/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_grid_import_power",
           "device_class": "power",
           "name": "Grid import power",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/power",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_grid_import_power",
           "unit_of_measurement": "W",
           "value_template": "{{ [value_json.grid, 0] | max if value_json.live and value_json.grid is not none else none }}"
          },
          "grid_power": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/meter/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_grid_power",
           "device_class": "power",
           "name": "Grid power",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/power",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_grid_power",
           "unit_of_measurement": "W",
           "value_template": "{{ value_json.grid if value_json.live and value_json.grid is not none else none }}"
          },
          "house_power": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/meter/availability"},
            {"topic": "ftw/home/source/pv/availability"},
            {"topic": "ftw/home/source/store/availability"},
            {"topic": "ftw/home/source/charger/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_house_power",
           "device_class": "power",
           "name": "House power",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/power",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_house_power",
           "unit_of_measurement": "W",
           "value_template": "{{ value_json.house if value_json.live and value_json.house is not none else none }}"
          },
          "in_control": {
           "default_entity_id": "binary_sensor.ftw_home_in_control",
           "device_class": "running",
           "json_attributes_topic": "ftw/home/control",
           "name": "FTW in control",
           "platform": "binary_sensor",
           "state_topic": "ftw/home/control",
           "unique_id": "ftw_0123456789abcdef_in_control",
           "value_template": "{{ none if value_json.in_control is none else 'ON' if value_json.in_control else 'OFF' }}"
          },
          "last_error": {
           "availability": [{"topic": "ftw/home/bridge/availability"}],
           "default_entity_id": "sensor.ftw_home_last_error",
           "entity_category": "diagnostic",
           "icon": "mdi:alert-circle-outline",
           "json_attributes_topic": "ftw/home/bridge/health",
           "name": "Last error",
           "platform": "sensor",
           "state_topic": "ftw/home/bridge/health",
           "unique_id": "ftw_0123456789abcdef_last_error",
           "value_template": "{{ none if value_json.last_error is none else value_json.last_error.code }}"
          },
          "mode": {
           "default_entity_id": "sensor.ftw_home_mode",
           "device_class": "enum",
           "icon": "mdi:tune",
           "name": "Mode",
           "options": ["Idle", "Self use", "Arbitrage"],
           "platform": "sensor",
           "state_topic": "ftw/home/mode",
           "unique_id": "ftw_0123456789abcdef_mode",
           "value_template": "{{ value_json.label if value_json.live else none }}"
          },
          "mode_choice": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/commands",
             "value_template": "{{ 'online' if value_json.mode else 'offline' }}"}
           ],
           "command_topic": "ftw/home/mode/set",
           "default_entity_id": "select.ftw_home_mode_choice",
           "icon": "mdi:tune",
           "message_expiry_interval": 30,
           "name": "Choose mode",
           "options": ["Idle", "Self use", "Arbitrage"],
           "platform": "select",
           "qos": 1,
           "state_topic": "ftw/home/mode",
           "unique_id": "ftw_0123456789abcdef_mode_choice",
           "value_template": "{{ value_json.label if value_json.live else none }}"
          },
          "solar_power": {
           "availability": [
            {"topic": "ftw/home/bridge/availability"},
            {"topic": "ftw/home/box/availability"},
            {"topic": "ftw/home/source/pv/availability"}
           ],
           "default_entity_id": "sensor.ftw_home_solar_power",
           "device_class": "power",
           "name": "Solar power",
           "platform": "sensor",
           "state_class": "measurement",
           "state_topic": "ftw/home/power",
           "suggested_display_precision": 0,
           "unique_id": "ftw_0123456789abcdef_solar_power",
           "unit_of_measurement": "W",
           "value_template": "{{ [-value_json.solar, 0] | max if value_json.live and value_json.solar is not none else none }}"
          },
          "source_charger": {
           "default_entity_id": "binary_sensor.ftw_home_source_charger",
           "device_class": "connectivity",
           "entity_category": "diagnostic",
           "name": "Garage",
           "payload_off": "offline",
           "payload_on": "online",
           "platform": "binary_sensor",
           "state_topic": "ftw/home/source/charger/availability",
           "unique_id": "ftw_0123456789abcdef_source_charger"
          },
          "source_charger_state": {
           "default_entity_id": "sensor.ftw_home_source_charger_state",
           "device_class": "enum",
           "entity_category": "diagnostic",
           "json_attributes_topic": "ftw/home/source/charger",
           "name": "Garage state",
           "options": ["live", "lagging", "stale", "down", "never", "unknown"],
           "platform": "sensor",
           "state_topic": "ftw/home/source/charger",
           "unique_id": "ftw_0123456789abcdef_source_charger_state",
           "value_template": "{{ value_json.state }}"
          },
          "source_meter": {
           "default_entity_id": "binary_sensor.ftw_home_source_meter",
           "device_class": "connectivity",
           "entity_category": "diagnostic",
           "name": "House meter",
           "payload_off": "offline",
           "payload_on": "online",
           "platform": "binary_sensor",
           "state_topic": "ftw/home/source/meter/availability",
           "unique_id": "ftw_0123456789abcdef_source_meter"
          },
          "source_meter_state": {
           "default_entity_id": "sensor.ftw_home_source_meter_state",
           "device_class": "enum",
           "entity_category": "diagnostic",
           "json_attributes_topic": "ftw/home/source/meter",
           "name": "House meter state",
           "options": ["live", "lagging", "stale", "down", "never", "unknown"],
           "platform": "sensor",
           "state_topic": "ftw/home/source/meter",
           "unique_id": "ftw_0123456789abcdef_source_meter_state",
           "value_template": "{{ value_json.state }}"
          },
          "source_pv": {
           "default_entity_id": "binary_sensor.ftw_home_source_pv",
           "device_class": "connectivity",
           "entity_category": "diagnostic",
           "name": "Roof",
           "payload_off": "offline",
           "payload_on": "online",
           "platform": "binary_sensor",
           "state_topic": "ftw/home/source/pv/availability",
           "unique_id": "ftw_0123456789abcdef_source_pv"
          },
          "source_pv_state": {
           "default_entity_id": "sensor.ftw_home_source_pv_state",
           "device_class": "enum",
           "entity_category": "diagnostic",
           "json_attributes_topic": "ftw/home/source/pv",
           "name": "Roof state",
           "options": ["live", "lagging", "stale", "down", "never", "unknown"],
           "platform": "sensor",
           "state_topic": "ftw/home/source/pv",
           "unique_id": "ftw_0123456789abcdef_source_pv_state",
           "value_template": "{{ value_json.state }}"
          },
          "source_store": {
           "default_entity_id": "binary_sensor.ftw_home_source_store",
           "device_class": "connectivity",
           "entity_category": "diagnostic",
           "name": "Cellar battery",
           "payload_off": "offline",
           "payload_on": "online",
           "platform": "binary_sensor",
           "state_topic": "ftw/home/source/store/availability",
           "unique_id": "ftw_0123456789abcdef_source_store"
          },
          "source_store_state": {
           "default_entity_id": "sensor.ftw_home_source_store_state",
           "device_class": "enum",
           "entity_category": "diagnostic",
           "json_attributes_topic": "ftw/home/source/store",
           "name": "Cellar battery state",
           "options": ["live", "lagging", "stale", "down", "never", "unknown"],
           "platform": "sensor",
           "state_topic": "ftw/home/source/store",
           "unique_id": "ftw_0123456789abcdef_source_store_state",
           "value_template": "{{ value_json.state }}"
          }
         },
         "device": {
          "identifiers": ["ftw_0123456789abcdef"],
          "manufacturer": "FTW",
          "model": "Home energy box",
          "name": "Home",
          "sw_version": "2.2.1"
         },
         "origin": {
          "name": "ftw-mqtt",
          "support_url": "https://example.org/ftw-mqtt",
          "sw_version": "0.1.0"
         }
        }
        """#
}
