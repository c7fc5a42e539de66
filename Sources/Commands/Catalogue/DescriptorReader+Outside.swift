import Core

/// The checks of calls to outside services that need only the script's own header.
extension DescriptorReader {
    mutating func checkOutside() {
        checkVia()
        var first: Set<OutsideCall> = []
        for (call, line) in zip(descriptor.callsOut, lines[.callOut]) where !first.insert(call).inserted {
            problem(line, "@call_out: \(call) is given twice")
        }
        guard let line = lines[.callOut].first else { return }
        if descriptor.isReadOnly {
            problem(line, "@call_out: a @readonly script calls nothing")
        } else if descriptor.isIdempotent {
            problem(line, "@call_out: each retry of an @idempotent script would call again; leave that word out")
        }
        checkRated(line, "@call_out")
    }

    /// Checks that all routes declare the same `via`: a service answers a command on all its routes.
    private mutating func checkVia() {
        guard let index = descriptor.routes.firstIndex(where: { $0.via != nil }) else { return }
        let (via, line) = (descriptor.routes[index].via, lines[.http][index])
        descriptor.via = via
        if let other = descriptor.routes.firstIndex(where: { $0.via != via }) {
            problem(lines[.http][max(other, index)], "@http: all routes of a command say the same behind via")
        }
        if !descriptor.isReadOnly {
            problem(line, "@http: what a service outside answers must be @readonly; to have one called write @call_out")
        }
        if descriptor.rights.roles.contains(.worker) {
            problem(line, "@http: the worker waits for no service outside; take worker out of @allow")
        }
        checkRated(line, "@http")
    }

    /// Reports a caller without an operator's key that has no rate: outside services have quotas and cost money.
    mutating func checkRated(_ line: Int, _ tag: String) {
        for payer in [CallRate.Payer.user, .address]
        where descriptor.rights.roles.contains(payer.role) && !descriptor.rates.contains(where: { $0.payer == payer }) {
            problem(
                line,
                "\(tag): each call costs the service outside, so say how often a caller may, "
                    + "e.g. @rate 10/60 s \(payer.rawValue)")
        }
    }
}
