import EnergyModel
import MQTTTypes

/// Prices, plan and energy: each is said again when its document changed.
extension StatePublisher {
    /// Where they are published, in that order.
    var pricePlaces: [TopicTree.Place] {
        [.init(.priceNow), .init(.priceSeries)]
            + settings.cheapHours.map { .init(.cheapest, Self.level(hours: $0)) }
            + [.init(.cheapNow), .init(.planNow), .init(.planSeries), .init(.energy)]
    }

    static func level(hours: Int) -> TopicLevel { TopicLevel("\(hours)h") }

    mutating func takePrices(since old: SiteState, now: Moment) {
        if site.prices?.currency != old.prices?.currency { structure += 1 }
        for place in pricePlaces {
            let isNew =
                switch place.name {
                case .planNow, .planSeries: site.plan != old.plan
                case .energy: site.energy != old.energy
                default: site.prices != old.prices
                }
            if isNew { mark(place, at: now.monotonic) }
        }
    }

    /// `nil` for a place that is none of these.
    func pricePayload(of place: TopicTree.Place, now: Moment) -> Payload? {
        switch place.name {
        case .priceNow: return .document(documents.priceNow(site.prices))
        case .priceSeries: return .document(documents.priceSeries(site.prices))
        case .cheapest:
            guard let hours = settings.cheapHours.first(where: { Self.level(hours: $0) == place.level })
            else {
                return nil
            }
            return .document(documents.cheapest(hours: hours, in: site.prices, now: now.wall))
        // What stays on the broker when we go must start nothing.
        case .cheapNow: return .plain(isOnline ? documents.cheapNow(site.prices) : "null")
        case .planNow: return .document(documents.planNow(site.plan, now: now.wall))
        case .planSeries: return .document(documents.planSeries(site.plan))
        case .energy: return .document(documents.energy(site.energy))
        default: return nil
        }
    }
}
