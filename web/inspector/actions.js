// The actions on sessions and users, each behind a question. The gateways log who acted, and on whom.
import { part, path } from '/inspector/api.js';
import { ask } from '/inspector/dialog.js';

const REASONS = [
  ['restart', 'restart: the client connects again at once'],
  ['try_later', 'try_later: the client connects again later'],
  ['policy_violation', 'policy_violation: it broke a rule'], ['forbidden', 'forbidden: it may not be here'],
];

/** Ends one session. */
export function askToClose(app, { id, user, key }) {
  const whose = user ?? (key === null ? 'a client without a token' : `the key ${key}`);
  ask({
    title: `Close session ${id}?`,
    text: `It belongs to ${whose}. Its connection ends; other sessions of the same connection end with it. `
      + 'The client may come back: revoke the user as well to keep it out.',
    fields: [{ name: 'reason', label: 'Reason that the client receives', choices: REASONS, value: 'restart' }],
    action: 'Close the session',
    act: ({ reason }) => app.send('POST', path(`/v1/sessions/${part(id)}/close`, { reason })),
    done: (_, { reason }) => app.done(`closed session ${id} of ${whose} with ${reason}.`),
  });
}

/** Ends every session of a user, and refuses the tokens that the user has. */
export function askToRevoke(app, user) {
  ask({
    title: user === '' ? 'Revoke a user?' : `Revoke ${user}?`,
    text: 'All sessions of the user end on every gateway within two seconds, and every token issued until now is '
      + 'refused. The user comes back with a new token. This cannot be taken back.',
    fields: [{ name: 'user', label: 'User', value: user }],
    action: 'Revoke the user',
    act: ({ user: named }) => app.send('POST', '/v1/revocations', { user: named }),
    done: (_, { user: named }) => app.done(`revoked ${named}: the tokens issued until now are refused.`),
  });
}
