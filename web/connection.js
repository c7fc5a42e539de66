// The line at the top of the page: how the connection stands, and when it is tried again.
import { element, say } from '/dom.js';

const sentences = {
  connecting: 'Connecting', authenticating: 'Connecting', unauthorized: 'Connecting', open: 'Live',
  draining: 'Live; the server is about to restart',
};

/** Shows each change of the client's status. */
export async function showConnection(client) {
  let countdown = null;
  for await (const { phase, retryInMs, lastClose } of client.statuses()) {
    clearInterval(countdown);
    if (phase === 'waiting') {
      countdown = showWait(retryInMs ?? 0, lastClose);
    } else if (phase in sentences) {
      element('connection').dataset.state = sentences[phase] === 'Connecting' ? 'connecting' : phase;
      say('connection-text', sentences[phase]);
      say('connection-count', '');
    }
  }
}

function showWait(retryInMs, lastClose) {
  const due = performance.now() + retryInMs;
  const left = () => Math.max(0, Math.ceil((due - performance.now()) / 1_000));
  element('connection').dataset.state = 'waiting';
  // Only the reason is announced; a count of seconds would be read out each second.
  say('connection-text', `Reconnecting: ${reasonOf(lastClose?.code ?? 0, lastClose?.reason)}`);
  const show = () => say('connection-count', `in ${left()} s`);
  show();
  return setInterval(show, 250);
}

const closeReasons = new Map([
  [0, 'no answer'],
  [1000, 'closed'],
  [1001, 'the server went away'],
  [1006, 'the connection broke'],
  [1012, 'the server restarts'],
  [1013, 'the server is busy'],
  [4401, 'not authorised'],
  [4403, 'not allowed'],
  [4408, 'timed out'],
  [4410, 'read too slowly'],
  [4429, 'too many messages'],
]);

/** Why a connection ended, in words. */
export function reasonOf(code, told) {
  if (!navigator.onLine) return 'no network';
  return told || closeReasons.get(code) || `closed with code ${code}`;
}
