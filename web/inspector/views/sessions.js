// Clients of all gateways: found, closed, and their users revoked.
import { make, say } from '/inspector/dom.js';
import { path } from '/inspector/api.js';
import { bytes, many, milliseconds, number, time } from '/inspector/format.js';
import { given, link, search } from '/inspector/form.js';
import { askToClose, askToRevoke } from '/inspector/actions.js';
import { Table } from '/inspector/table.js';

const LIMITS = [['50', '50 rows'], ['200', '200 rows'], ['500', '500 rows']];
const who = ({ user, key }) => user ?? (key === null ? 'without a token' : `key ${key}`);
const isOpen = ({ closed }) => closed === null;

/** The table of sessions, as several pages show it. */
export function sessionTable(app, caption, empty) {
  const columns = [
    { label: 'Session', text: ({ id }) => id, kind: 'code brief',
      href: ({ id, closed }) => (closed === null ? link('wire', { session: id }) : null) },
    { label: 'Caller', text: who, kind: 'name',
      href: ({ user }) => (user === null ? null : link('sessions', { user })) },
    { label: 'State', state: ({ closed, why }) => (closed === null ? ['good', 'Open']
      : [why === 'normal' || why === 'restart' ? 'plain' : 'warned', `Ended ${time(closed)}: ${why}`]) },
    { label: 'Waiting', kind: 'number', text: ({ queuedBytes, waitingMs }) => (queuedBytes === 0 ? '–'
      : `${bytes(queuedBytes)}, ${milliseconds(waitingMs)}`) },
    { label: 'Gateway', text: ({ node }) => app.nodes.machine(node) },
    { label: 'Address', text: ({ address }) => address ?? '–', kind: 'code brief',
      href: ({ address }) => (address === null ? null : link('sessions', { address })) },
    { label: 'Protocol', text: ({ dialect }) => dialect },
    { label: 'Since', text: ({ since }) => time(since), kind: 'brief' },
    { label: 'Topics', kind: 'wide', text: ({ topics, topicCount }) => (topicCount === 0 ? '–'
      : topics.slice(0, 3).join(', ') + (topicCount > 3 ? ` and ${topicCount - 3} more` : '')) },
    { label: 'Actions', actions: [
      { label: 'Close…', act: (row) => askToClose(app, row), isFor: isOpen, names: ({ id }) => `session ${id}` },
      { label: 'Revoke…', act: ({ user }) => askToRevoke(app, user), isFor: ({ user }) => user !== null,
        names: ({ user }) => `the tokens of ${user}` },
    ] },
  ];
  return new Table(caption, columns, { key: ({ id }) => id, empty });
}

export function openSessions(content, parameters, app) {
  const form = search('sessions', [
    { name: 'user', label: 'User' }, { name: 'address', label: 'Address' }, { name: 'topic', label: 'Topic' },
    { name: 'node', label: 'Gateway (id)' }, { name: 'limit', label: 'Show', choices: LIMITS },
  ], parameters, 'Search');
  const counted = make('p', { class: 'muted', role: 'status' });
  const revoke = make('button', { type: 'button',
    on: { click: () => askToRevoke(app, parameters.get('user') ?? '') } }, 'Revoke a user…');
  const table = sessionTable(app, 'Sessions', 'No session matches, open or ended within the last hour.');
  content.append(form, make('div', { class: 'between' }, counted, revoke), table.node);
  const query = given(parameters, 'user', 'address', 'topic', 'node', 'limit');
  return {
    // The names of gateways are asked for once.
    next: (tick) => (tick === 1 ? { name: 'nodes', path: '/v1/nodes' }
      : { name: 'sessions', path: path('/v1/sessions', query) }),
    show(name, answer) {
      if (name === 'nodes') return app.nodes.learn(answer.nodes);
      const { sessions, total } = answer;
      const open = sessions.filter(isOpen).length;
      say(counted, `${many(total, 'session')} match${total === 1 ? 'es' : ''}; shown are ${number(open)} open and `
        + `${number(sessions.length - open)} ended.`);
      table.show(sessions);
    },
  };
}
