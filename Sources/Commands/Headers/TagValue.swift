/// The value of one tag, read and checked without regard to other tags.
public enum TagValue: Equatable, Sendable {
    /// `@command NAME`
    case command(String)
    /// `@summary TEXT`
    case summary(String)
    /// `@http METHOD /path [STATUS]`
    case http(HTTPRoute)
    /// `@allow role|role`
    case allow(CommandRights)
    /// `@arg NAME TYPE ...`
    case arg(ArgumentDeclaration)
    /// `@key NAME TEMPLATE`
    case key(KeyDeclaration)
    /// `@derive NAME = geohash(ARG, ARG, N)`
    case derive(DerivedValue)
    /// `@resolve NAME = TEMPLATE [FIELD] else CODE [STATUS] -- TEXT`
    case resolve(ResolvedValue)
    /// `@span [NAME [reads NAME]] -- TEXT`
    case span(Span)
    /// `@topic TEMPLATE`
    case topic(Template)
    /// `@calls name, name`
    case calls([String])
    /// `@steps name, name`
    case steps([String])
    /// `@call_out SERVICE COMMAND`
    case callOut(OutsideCall)
    /// `@emits EVENT TYPE`
    case emits(EmittedEvent)
    /// `@returns TYPE`
    case returns(DeclaredValue)
    /// `@errors code, code STATUS`
    case errors([DeclaredError])
    /// `@cost TEXT`
    case cost(String)
    /// `@weight N`
    case weight(microseconds: Int)
    /// `@rate N/S s PAYER`
    case rate(CallRate)
    /// `@readonly`
    case readonly
    /// `@idempotent`
    case idempotent
    /// `@random`
    case random
    /// `@members`
    case members
    /// `@erases`
    case erases
    /// `@exports`
    case exports
    /// `@mint TOPIC DURATION`
    case mint(MintDeclaration)
    /// `@refresh TEMPLATE`
    case refresh(Template)
    /// `@coalesce N ms`
    case coalesce(milliseconds: Int)
    /// `@heartbeat N s`
    case heartbeat(seconds: Int)
    /// `@state NAMESPACE`
    case state(String)
    /// `@subscribe NAMESPACE`
    case subscribe(String)
    /// `@part NAME`
    case part(String)
    /// `@include NAME`
    case include(String)
    /// `@type NAME TYPE`
    case type(NamedType)
}
