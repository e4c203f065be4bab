// swift-tools-version: 6.2
import PackageDescription

/// One settings array for every Swift target, so that no target is laxer than another.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

func part(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [],
    resources: [Resource]? = nil
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], exclude: exclude, resources: resources,
        swiftSettings: strict)
}

let package = Package(
    name: "ftw-mqtt",
    products: [.executable(name: "ftw-mqtt", targets: ["ftw-mqtt"])],
    targets: [
        // C libraries, each used by exactly one file of ours.
        .systemLibrary(
            name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CWebSockets", pkgConfig: "libwebsockets", providers: [.apt(["libwebsockets-dev"])]),
        .systemLibrary(name: "CCBOR", pkgConfig: "libcbor", providers: [.apt(["libcbor-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng16", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CZBar", pkgConfig: "zbar", providers: [.apt(["libzbar-dev"])]),
        .systemLibrary(name: "CLinux"),

        // Leaves.
        part("Ambient"),
        part("JSONText"),
        part("EnergyModel", ["JSONText"]),
        part("MQTTTypes"),

        part("BoxLink", ["Ambient", "CCrypto", "CWebSockets", "CCBOR"]),
        part("BoxSession", ["Ambient", "BoxLink", "EnergyModel", "JSONText"]),
        part("BoxSimulator", ["Ambient", "BoxLink", "EnergyModel", "JSONText"]),
        part("MQTTClient", ["Ambient", "MQTTTypes", "CMosquitto"]),
        part("Bridge", ["Ambient", "EnergyModel", "JSONText", "MQTTTypes"]),
        part("Configuration", ["CYAML"]),
        part("Persistence", ["JSONText"]),
        part(
            "Daemon",
            [
                "Ambient", "BoxLink", "BoxSession", "BoxSimulator", "Bridge", "Configuration", "EnergyModel",
                "JSONText", "MQTTClient", "MQTTTypes", "Persistence", "CLinux", "CPNG", "CSystemd", "CZBar",
            ]),
        .executableTarget(name: "ftw-mqtt", dependencies: ["Daemon"], swiftSettings: strict),

        .target(
            name: "TestSupport", dependencies: ["Ambient", "JSONText"], path: "Tests/TestSupport",
            swiftSettings: strict),
        tests("AmbientTests", ["Ambient"]),
        tests("JSONTextTests", ["JSONText"]),
        tests("EnergyModelTests", ["EnergyModel", "JSONText"]),
        tests("MQTTTypesTests", ["MQTTTypes"]),
        tests("BoxLinkTests", ["BoxLink", "Ambient", "JSONText"], exclude: ["Vectors"]),
        tests(
            "BoxSessionTests", ["BoxSession", "BoxLink", "EnergyModel", "Ambient", "JSONText"],
            resources: [.copy("Recordings")]),
        tests(
            "BoxSimulatorTests", ["BoxSimulator", "BoxLink", "EnergyModel", "Ambient", "JSONText"],
            resources: [.copy("Recordings")]),
        tests("MQTTClientTests", ["MQTTClient", "MQTTTypes", "Ambient"]),
        tests(
            "BridgeTests", ["Bridge", "EnergyModel", "MQTTTypes", "Ambient", "JSONText"],
            exclude: ["Expected"]),
        tests("ConfigurationTests", ["Configuration"]),
        tests("PersistenceTests", ["Persistence", "JSONText"]),
        tests(
            "DaemonTests",
            [
                "Daemon", "Ambient", "BoxLink", "BoxSession", "BoxSimulator", "Bridge", "Configuration",
                "EnergyModel", "JSONText", "MQTTTypes", "Persistence",
            ],
            exclude: ["Site/Pictures"]),
        tests(
            "IntegrationTests",
            [
                "Ambient", "BoxLink", "BoxSession", "BoxSimulator", "Bridge", "Configuration", "Daemon",
                "EnergyModel", "JSONText", "MQTTClient", "MQTTTypes", "Persistence",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
