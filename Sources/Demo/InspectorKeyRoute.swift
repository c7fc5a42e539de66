import Core
import HTTPCodec
import HTTPSurface

/// `POST /demo/inspector`: the API key with which the demo's page signs in to the inspector.
///
/// Only pages of this gateway on this machine receive it. The machine's user could read the key's file as well. Thread:
/// the shard's.
struct InspectorKeyRoute {
    let key: [UInt8]

    /// Answers the request.
    func answer(_ request: HTTPRequest, _ respond: Respond) {
        guard request.head.method == .post else { return respond(.methodNotAllowed([.post], keepAlive: true)) }
        guard request.isLocal else {
            return respond(.refusal(Refusal(.forbidden, "served to this machine only"), keepAlive: true))
        }
        var body = [UInt8(ascii: "{")]
        body.append(member: "key", string: key)
        body.append(UInt8(ascii: "}"))
        var response = HTTPResponse.json(status: 200, body: body, keepAlive: true)
        response.set(.cacheControl, "no-store")
        respond(response)
    }
}
