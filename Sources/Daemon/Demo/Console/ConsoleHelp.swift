/// What the console can do, for a person.
enum ConsoleHelp {
    struct Entry: Sendable {
        /// As it is typed: what is chosen stands between bars, what may be left out in brackets.
        var form: String
        /// What it does, with the units of its numbers.
        var about: String

        init(_ form: String, _ about: String) {
            self.form = form
            self.about = about
        }

        var verb: Substring { form.prefix { $0 != " " } }
    }

    static let entries: [Entry] = [
        Entry("help [WORD]", "this list, or what begins with that word"),
        Entry("where", "where the broker and the relay listen"),
        Entry("link [owner|viewer]", "a new pairing link, good for ten minutes and one bridge"),
        Entry("clock [TIME]", "the house's time, or sets it: 2026-10-25T00:00:00+02:00"),
        Entry("speed N", "the house's clock runs 1 to 120 times as fast"),
        Entry("state", "what is true in the house, as one line of JSON"),
        Entry("log clear", "forgets the commands and questions counted so far"),
        Entry("quit", "ends the demo"),
        Entry(
            "car [ID] plug|unplug",
            "the cable; a car that is plugged in is not read yet. Ends the daily routine"),
        Entry(
            "car [ID] situation everyday|unplugged|assumed|no_goal|replanning|no_plan|two_chargers|old_box",
            "how the box knows the car; whatever a person ordered is gone, the goal is 80 % by 07:00"),
        Entry("car [ID] situation estimated|car_live|car_flagged_old|person_set %", "the same at that level"),
        Entry("car [ID] situation car_old % SECONDS", "the car itself said that level so long ago"),
        Entry("car [ID] situation late WH", "so many watt-hours will be missing when the goal is due"),
        Entry("car [ID] situation holding W", "somebody holds it at that power in watts; 0 is a pause"),
        Entry("car [ID] draw on|off|auto", "it takes all it may, or nothing, or what the box gives it"),
        Entry("phone [ID] level %", "another app of the household enters a level, 0 to 100"),
        Entry(
            "phone [ID] hold charge|pause|release", "the other app charges now, pauses, goes back to the plan"
        ),
        Entry(
            "phone [ID] goal % HH:MM [once|mon,tue]", "the other app sets the goal, for every day or those"),
        Entry("phone [ID] goal none", "the other app removes the goal"),
        Entry("phone [ID] surplus_only on|off", "the other app switches charging from sun only"),
        Entry("phone mode KEY", "the other app chooses the mode"),
        Entry("mode set KEY", "somebody chooses the mode at the box"),
        Entry("mode add KEY LABEL", "a new mode; bridges hear of it at their next greeting (box restart)"),
        Entry("mode remove KEY", "the same for one that goes"),
        Entry("source NAME live|lagging|stale|down|never", "how well a meter, inverter or charger answers"),
        Entry("meter lose|restore", "the site meter; without it nothing may be dispatched"),
        Entry("battery remove", "the house has no battery any more"),
        Entry("box restart|away|back", "starts anew; leaves the relay's room; joins it again"),
        Entry("box booting %", "starts anew and is still starting, so far"),
        Entry("box ready", "has started"),
        Entry("box vintage ancient|base|soc|late", "starts again as a box of that age"),
        Entry("box consent on|off", "changing a goal wants the owner's confirmation"),
        Entry("box mute on|off", "sends nothing to anybody"),
        Entry(
            "relay drop|rotate|stop|start",
            "cuts every socket; turns the hour; stops listening; listens again"),
        Entry("role owner|viewer", "what paired bridges may do, from their next greeting (box restart)"),
        Entry("revoke", "every paired bridge is removed at the box"),
        Entry(
            "next lost|answers_lost|receipt_lost|result_lost|unconfirmed|none",
            "what the next command comes to"),
        Entry("next result_late|slow SECONDS", "its result comes late; it is carried out late"),
        Entry("next refused|refused_at_execution CODE", "the box refuses it: E_UNAVAILABLE, E_CONFLICT, …"),
        Entry("next overtaken VALUE", "the box keeps that value instead"),
        Entry("swallow results|commands on|off", "from now on no result, or no answer at all"),
        Entry(
            "api fault PATH truncated|garbled|foreign|refused|none",
            "how questions to a path such as /api/loadpoints end"),
        Entry("api fault PATH status N", "they end with that HTTP status, 400 to 599"),
        Entry("api busy N", "the next so many questions find the box busy"),
        Entry("api delay SECONDS", "answers come so much later"),
        Entry("prices none|known|negative", "no prices; as it makes them; some below zero around noon"),
        Entry(
            "prices today|tomorrow ÖRE…",
            "the exchange's price of each hour or quarter in öre per kWh, or one for the whole day"),
        Entry(
            "prices published yes|no|auto",
            "whether tomorrow's are there; auto: from 13:00. A bridge reads prices again after box restart"),
        Entry("energy import KWH", "so much more was taken from the grid"),
    ]

    /// Every first word, once.
    static var verbs: [String] {
        entries.map { String($0.verb) }.reduce(into: []) { list, verb in
            if !list.contains(verb) { list.append(verb) }
        }
    }

    /// - Parameter verb: Only its commands; `nil`: all.
    /// - Returns: Two lines for each; `nil` when there is no such command.
    static func lines(_ verb: String?) -> [String]? {
        let wanted = entries.filter { verb == nil || $0.verb == verb ?? "" }
        return wanted.isEmpty ? nil : wanted.flatMap { ["  \($0.form)", "      \($0.about)"] }
    }
}
