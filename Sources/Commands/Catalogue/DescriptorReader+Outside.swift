import Core

/// The checks of what goes to services outside, as far as one header tells.
extension DescriptorReader {
    mutating func checkOutside() {
        checkVia()
        var first: Set<OutsideCall> = []
        for (call, line) in zip(descriptor.callsOut, lines.callsOut) where !first.insert(call).inserted {
            problem(line, "@call_out: \(call) is given twice")
        }
        guard let line = lines.callsOut.first else { return }
        if descriptor.isReadOnly {
            problem(line, "@call_out: a @readonly script calls nothing")
        } else if descriptor.isIdempotent {
            problem(line, "@call_out: each retry of an @idempotent script would call again; leave that word out")
        }
        checkRated(line, "@call_out")
    }

    /// A service answers for a command by all its doors, so all routes say the same.
    private mutating func checkVia() {
        guard let index = descriptor.routes.firstIndex(where: { $0.via != nil }) else { return }
        let (via, line) = (descriptor.routes[index].via, lines.routes[index])
        descriptor.via = via
        if let other = descriptor.routes.firstIndex(where: { $0.via != via }) {
            problem(lines.routes[max(other, index)], "@http: all routes of a command say the same behind via")
        }
        if !descriptor.isReadOnly {
            problem(line, "@http: what a service outside answers must be @readonly; to have one called write @call_out")
        }
        if descriptor.rights.roles.contains(.worker) {
            problem(line, "@http: the worker waits for no service outside; take worker out of @allow")
        }
        checkRated(line, "@http")
    }

    /// Whoever needs no operator's key to call has a rate: what is outside has quotas and costs money.
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
