// The gateway over HTTP, as the apps use it: JSON, the guest's token, and the server's own sentence when it refuses.
import { operationId, SwitchboardError } from '/switchboard.js';

/** Asks; the promise ends with the answer's JSON, null without one, or with a SwitchboardError. */
export async function ask(guest, method, path, body) {
  const headers = {};
  if (guest.token !== null) headers.Authorization = `Bearer ${guest.token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (method !== 'GET') headers['Idempotency-Key'] = operationId();
  let response, answer;
  try {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    response = await fetch(path, { method, headers, body: sent, cache: 'no-store' });
    const told = await response.text();
    answer = told === '' ? null : JSON.parse(told);
  } catch {
    const message = response === undefined ? 'The server cannot be reached; try again.'
      : 'The server sent something that is not JSON.';
    throw new SwitchboardError('unavailable', message);
  }
  if (response.ok) return answer;
  throw new SwitchboardError(answer?.error?.code ?? response.status, sentence(answer, response.status));
}

/** What a refusal says: each app has a form of its own for it. */
export function sentence(answer, status) {
  const told = [answer?.error?.message, answer?.error, answer?.detail?.[0]?.msg, answer?.detail, answer?.message];
  return told.find((words) => typeof words === 'string' && words !== '') ?? `The server answered ${status}.`;
}
