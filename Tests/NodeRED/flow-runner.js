// Runs the function nodes of a Node-RED flow without Node-RED: checks the flow's shape, then reads lines of
// JSON from standard input and writes what would leave the flow, a line each.
//
//   node flow-runner.js FLOW.json < lines
//
// In:  {"topic": "...", "payload": "text", "retain": true, "kept": false}
//          a message on the broker: published with that retain flag, and whether the broker had kept it
//          when the flow subscribed
//      {"press": "name of an inject node"}
//      "$last" in a payload stands for the id of the command that left the flow last.
// Out: {"publish": {...}}, {"debug": "name", "payload": ...}, {"ready": {...}} first, {"done": true} per line
"use strict";
const fs = require("fs");
const vm = require("vm");
const readline = require("readline");

const nodes = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const byId = new Map();
function check(condition, words) {
    if (!condition) {
        console.log(JSON.stringify({ fault: words }));
        process.exit(1);
    }
}

// MARK: The flow's shape
const core = ["tab", "mqtt-broker", "mqtt in", "mqtt out", "function", "inject", "debug", "comment"];
const outputs = { "mqtt in": () => 1, inject: () => 1, function: (n) => n.outputs };
check(Array.isArray(nodes), "a flow is an array");
for (const node of nodes) {
    check(typeof node.id === "string" && node.id.length > 0, "a node without an id");
    check(!byId.has(node.id), `the id ${node.id} is there twice`);
    check(core.includes(node.type), `${node.type} needs a palette`);
    byId.set(node.id, node);
}
const fed = new Set();
for (const node of nodes) {
    if (["tab", "mqtt-broker"].includes(node.type)) { continue; }
    check(byId.get(node.z)?.type === "tab", `${node.name} is on no tab`);
    check(Number.isFinite(node.x) && Number.isFinite(node.y), `${node.name} has no place`);
    check(Array.isArray(node.wires), `${node.name} has no wires`);
    const count = outputs[node.type]?.(node) ?? 0;
    check(node.wires.length === count, `${node.name} has ${node.wires.length} outputs, not ${count}`);
    for (const target of node.wires.flat()) {
        check(byId.has(target), `${node.name} is wired to ${target}, which is not there`);
        check(["function", "mqtt out", "debug"].includes(byId.get(target).type), `${target} takes nothing`);
        fed.add(target);
    }
    if (node.type.startsWith("mqtt")) {
        check(byId.get(node.broker)?.type === "mqtt-broker", `${node.name} has no broker`);
        check(byId.get(node.broker).protocolVersion === "5", "the broker does not speak MQTT 5");
    }
    if (node.type === "mqtt out") { check(node.retain !== "true", `${node.name} retains commands`); }
    if (node.type === "mqtt in") {
        check(["json", "utf8"].includes(node.datatype), `${node.name}`);
        check(typeof node.rap === "boolean" && node.rh === "0", `${node.name} does not say what it subscribes`);
    }
}
for (const node of nodes) {
    if (["function", "mqtt out", "debug"].includes(node.type)) {
        check(fed.has(node.id), `nothing leads to ${node.name}`);
    }
}

// MARK: Running it
function store() {
    const values = new Map();
    return {
        get: (name) => values.get(name), set: (name, value) => { values.set(name, value); },
        keys: () => [...values.keys()]
    };
}
const flow = store();
const global_ = store();
let last = "";
const out = (document) => console.log(JSON.stringify(document));
const copy = (value) => (value === undefined ? undefined : structuredClone(value));

function compile(node) {
    const context = store();
    const sandbox = vm.createContext({
        flow, global: global_, context, env: { get: () => undefined }, Buffer, console: { log() {} },
        node: {
            id: node.id, name: node.name, status: (state) => check(typeof state === "object", "a status"),
            warn: (words) => out({ warn: String(words), node: node.name }), log() {}, debug() {}, trace() {},
            error: (words) => out({ error: String(words), node: node.name })
        },
        RED: { util: { cloneMessage: copy } }
    });
    // As Node-RED wraps it; a fault in the code is found here and not at home.
    const run = vm.runInContext(`(function (msg) {\n${node.func}\n})`, sandbox, { filename: node.name });
    return (msg) => run.call(undefined, msg);
}
const functions = new Map(nodes.filter((n) => n.type === "function").map((n) => [n.id, compile(n)]));

function send(node, port, msg) {
    for (const target of node.wires[port] ?? []) { receive(byId.get(target), copy(msg)); }
}

function receive(node, msg) {
    if (node.type === "debug") {
        out({ debug: node.name, payload: msg.payload });
    } else if (node.type === "mqtt out") {
        const payload = typeof msg.payload === "object" ? JSON.stringify(msg.payload) : String(msg.payload);
        last = msg.payload?.id ?? last;
        out({
            publish: {
                topic: node.topic || msg.topic, payload, qos: Number(node.qos || msg.qos || 0),
                retain: node.retain === "true" || msg.retain === true,
                expiry: msg.messageExpiryInterval ?? null
            }
        });
    } else {
        const result = functions.get(node.id)(msg);
        if (result === null || result === undefined) { return; }
        const list = Array.isArray(result) ? result : [result];
        check(list.length <= node.outputs, `${node.name} returns more than it has outputs`);
        list.forEach((one, port) => { if (one) { send(node, port, one); } });
    }
}

// Whether a message comes with the retain flag, as a broker decides by the node's own subscription (MQTT 5.0
// §3.3.1.3): always when it was kept; when it comes live, as it was published if "retain as published" is on.
function isRetained(node, line) { return line.kept === true || (node.rap === true && line.retain === true); }

function arrived(line) {
    for (const node of nodes) {
        if (node.type !== "mqtt in" || node.topic !== line.topic) { continue; }
        let payload = line.payload.replaceAll("$last", last);
        if (node.datatype === "json") {
            // Node-RED says so and passes nothing on.
            try { payload = JSON.parse(payload); } catch { continue; }
        }
        send(node, 0, { topic: line.topic, payload, qos: 1, retain: isRetained(node, line) });
    }
}

function pressed(name) {
    const node = nodes.find((n) => n.type === "inject" && n.name === name);
    check(node !== undefined, `there is no button ${name}`);
    const value = { str: String, num: Number, json: JSON.parse }[node.payloadType];
    check(value !== undefined, `${name} sends ${node.payloadType}`);
    send(node, 0, { topic: node.topic, payload: value(node.payload) });
}

out({
    ready: {
        topics: nodes.filter((n) => n.type === "mqtt in").map((n) => n.topic),
        buttons: nodes.filter((n) => n.type === "inject").map((n) => n.name)
    }
});
readline.createInterface({ input: process.stdin }).on("line", (text) => {
    const line = JSON.parse(text);
    if (line.press !== undefined) { pressed(line.press); } else { arrived(line); }
    out({ done: true });
});
