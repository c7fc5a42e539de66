import Core

/// `via SERVICE [cache SECONDS] [-- SENTENCE]` behind a route: an outside service answers the script's question.
public struct OutsideAnswer: Hashable, Sendable {
    /// The service's name for couriers.
    public let service: String
    /// The time for which an answer is kept for all callers with the same question, seconds; 0: it is not kept.
    public let cacheSeconds: Int
    /// The sentence that callers receive while no courier of the service is running.
    public let absent: String

    /// The range of ``cacheSeconds`` when answers are kept.
    static let cacheRange = 1...3_600

    /// Reads the text behind `via`.
    init(header text: String) throws(HeaderFault) {
        let parts = HeaderText.cut(text, at: " -- ")
        let words = HeaderText.words(parts?.before ?? text)
        guard words.count == 1 || words.count == 3 && words[1] == "cache" else {
            throw HeaderFault(
                "behind via stand a service and perhaps how long answers are kept, e.g. via spotify cache 60")
        }
        service = try OutsideCall.service(words[0])
        if words.count == 3 {
            guard let seconds = ASCII.decimal(Array(words[2].utf8)), OutsideAnswer.cacheRange.contains(seconds) else {
                throw HeaderFault(
                    "answers are kept for \(OutsideAnswer.cacheRange.lowerBound) to "
                        + "\(OutsideAnswer.cacheRange.upperBound) seconds, e.g. cache 60")
            }
            cacheSeconds = seconds
        } else {
            cacheSeconds = 0
        }
        absent = parts.map { HeaderText.trimmed($0.after) } ?? "\(service) cannot be asked: no courier of it is running"
    }
}
