// The gateway over HTTP, as the apps use it: JSON, the guest's token, and the server's own sentence when it refuses.
import { operationId, SwitchboardError } from '/switchboard.js';

/** Asks; the promise ends with the answer's JSON, null without one, or with a SwitchboardError. `wire` is told both. */
export async function ask(guest, method, path, body, wire = null) {
  const headers = {};
  if (guest.token !== null) headers.Authorization = `Bearer ${guest.token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (method !== 'GET') headers['Idempotency-Key'] = operationId();
  let response, answer;
  try {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    wire?.request('out', `${method} ${path}`, sent ?? '');
    response = await fetch(path, { method, headers, body: sent, cache: 'no-store' });
    const told = await response.text();
    wire?.request('in', `${response.status} of ${method} ${path}`, told);
    answer = told === '' ? null : JSON.parse(told);
  } catch {
    const message = response === undefined ? 'The server cannot be reached; try again.'
      : 'The server sent something that is not JSON.';
    throw new SwitchboardError('unavailable', message);
  }
  if (response.ok) return answer;
  throw new SwitchboardError(answer?.error?.code ?? response.status, sentence(answer, response.status));
}

/** Asks as a panel does: each request for this guest, and seen on this wire. */
export const asking = (guest, wire) => (method, path, body) => ask(guest, method, path, body, wire);

/** What a refusal says: each app has a form of its own for it. */
export function sentence(answer, status) {
  const told = [answer?.error?.message, answer?.error, answer?.detail?.[0]?.msg, answer?.detail, answer?.message];
  return told.find((words) => typeof words === 'string' && words !== '') ?? `The server answered ${status}.`;
}
