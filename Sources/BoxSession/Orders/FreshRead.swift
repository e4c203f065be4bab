import Ambient
import EnergyModel
import FoundationEssentials
import JSONText

/// Why the chargers could not be read; nothing was changed then.
enum ReadFailure: Error, Equatable {
    case request(BoxRequestError)
    case status(Int, String?)
    case notSuchADocument

    /// What that means for an order that began with the reading.
    ///
    /// - Parameter isLate: The order's deadline has passed meanwhile.
    func outcome(isLate: Bool) -> BoxOutcome {
        switch self {
        case .status(let status, let error):
            return .refused(
                RefusalTable.reason(status: status, error: error) ?? BoxRefusalReason(kind: .unavailable))
        case .notSuchADocument:
            return .refused(BoxRefusalReason(kind: .unavailable, detail: "the chargers cannot be read"))
        case .request(let error):
            switch error {
            case .notConnected, .linkLost, .timedOut, .cancelled, .tooLate:
                return isLate ? .expired : .neverArrived
            case .refused(let refusal): return .refused(RefusalTable.reason(refusal))
            case .unsupported, .invalid:
                return .refused(BoxRefusalReason(kind: .unsupported, detail: error.description))
            case .queueFull, .tooLarge, .malformedAnswer:
                return .refused(BoxRefusalReason(kind: .unavailable, detail: error.description))
            }
        }
    }
}

/// Reading with the urgency of a person who waits.
extension BoxSession {
    /// The chargers as they are now.
    ///
    /// - Parameter limit: Monotonic; whatever has not come by then is not waited for.
    func loadpoints(by limit: Duration) async -> Result<LoadpointList, ReadFailure> {
        let request = APIRequest(
            path: "/api/loadpoints", maxBytes: 1 << 20, priority: .person, notAfter: limit)
        switch await ask(request, by: limit) {
        case .failure(let error): return .failure(.request(error))
        case .success(let answer):
            guard answer.status == 200 else { return .failure(.status(answer.status, answer.errorText)) }
            guard let json = try? JSONValue(parsing: answer.body), let list = LoadpointList(json) else {
                return .failure(.notSuchADocument)
            }
            return .success(list)
        }
    }

    /// Asks, and stops waiting at `limit` with `timedOut`. An answer that came at
    /// the same moment counts.
    func ask(_ request: APIRequest, by limit: Duration) async -> Result<APIAnswer, BoxRequestError> {
        typealias Answer = Result<APIAnswer, BoxRequestError>
        return await withTaskGroup(of: Answer?.self) { group in
            group.addTask {
                do throws(BoxRequestError) {
                    return .success(try await self.request(request))
                } catch { return .failure(error) }
            }
            group.addTask { [ambient] in
                try? await ambient.time.sleep(until: limit)
                return nil
            }
            var found: Answer?
            for await result in group {
                group.cancelAll()
                guard let result else { continue }
                found = result
            }
            // Withdrawn by us means that the time was up.
            if case .failure(.cancelled) = found, !Task.isCancelled { return .failure(.timedOut) }
            return found ?? .failure(.timedOut)
        }
    }
}

extension APIAnswer {
    /// The handler's own words, at most 200 characters.
    var errorText: String? {
        guard let json = try? JSONValue(parsing: body) else { return nil }
        return json["error"]?.stringValue.map { String($0.prefix(200)) }
    }
}
