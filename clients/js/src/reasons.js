// Why there is no connection, in words: what a program shows, and where its developer looks first.

/** These do not pass by waiting: somebody has to mend the address, the server or the credentials. */
const permanent = new Set(['bad_address', 'not_found', 'forbidden', 'unauthorized', 'untrusted', 'not_tls',
  'tls_required', 'wrong_protocol', 'not_websocket']);

/** A reason as the status tells it. */
export const reason = (code, message) => ({ code, message, isPermanent: permanent.has(code) });

const ofStatus = new Map([
  [401, ['unauthorized', 'The gateway refused the token or API key']],
  [403, ['forbidden', 'The gateway refused the origin or the user']],
  [404, ['not_found', 'The address has a path that is not there']],
]);

/** Why a socket ended: `problem` is what the platform told of a dial, `wasOpen` whether there had been a connection. */
export function reasonOf({ code, reason: text = '', httpStatus = null, problem = null }, wasOpen) {
  if (problem !== null) return reason(...problem);
  if (httpStatus !== null) {
    const isBusy = httpStatus === 429 || httpStatus >= 500;
    const [name, message] = ofStatus.get(httpStatus) ?? (isBusy ? ['unavailable', 'The gateway is not available']
      : ['not_websocket', 'No WebSocket was opened, as when a proxy drops the header Upgrade']);
    return reason(name, `${message} (HTTP ${httpStatus}).`);
  }
  if (code === 4401) return reason('unauthorized', `The gateway refused the token. ${text}`);
  if (code === 4403) return reason('forbidden', `The gateway refused the user. ${text}`);
  if (code !== 0 && code !== 1005 && code !== 1006) return reason('closed', `The gateway closed: ${code} ${text}`);
  if (wasOpen) return reason('lost', 'The connection was lost.');
  return reason('unreachable', 'No connection came about. A page is not told why; its console may say more.');
}

/** What Node and `ws` tell of a failed dial, by the code of an error or its text. */
const dials = [
  [/ENOTFOUND|EAI_AGAIN/, 'unresolved', 'The name of the host does not resolve'],
  [/CERT|_SIGNATURE|self-signed/, 'untrusted', 'The certificate is not trusted'],
  [/EPROTO|ERR_SSL/, 'not_tls', 'The port speaks no TLS; without it an address begins with ws://'],
  [/HPE_|Parse\sError/, 'wrong_protocol', 'The port does not speak HTTP'],
  [/Invalid\s(Sec-WebSocket|Upgrade)|Server\ssent/, 'not_websocket', 'No WebSocket was opened'],
  [/ECONN|EHOST|ENET|ETIMEDOUT|disconnected/, 'unreachable', 'Nothing answers at the address'],
];

/** What the event of a failed dial tells, as members of `closed`; pages are told nothing. */
export function problemOf({ message = '', error }, url) {
  const text = `${error?.code ?? ''} ${message}`;
  const httpStatus = /server\sresponse:\s(\d{3})/.exec(text)?.[1];
  if (httpStatus !== undefined) return { httpStatus: Number(httpStatus) };
  if (/hang\sup/.test(text) && !/^wss:/i.test(url)) {
    return { problem: ['tls_required', 'The server hung up without an answer. A port for TLS does that: try wss://.'] };
  }
  const [, code, sentence] = dials.find(([grammar]) => grammar.test(text)) ?? [];
  return code === undefined ? {} : { problem: [code, `${sentence}: ${message.trim()}.`] };
}
