// Clients that are behind, and those that were closed since they read too slowly.
import { make, say } from '/inspector/dom.js';
import { bytes, many, shownOf } from '/inspector/format.js';
import { sessionTable } from '/inspector/views/sessions.js';

export function openSlow(content, _, app) {
  const counted = make('p', { class: 'muted', role: 'status' });
  const table = sessionTable(app, 'Slow sessions',
    'No client is behind, and none was closed for it within the last hour.');
  content.append(counted, table.node);
  return {
    next: (tick) => (tick === 1 ? { name: 'nodes', path: '/v1/nodes' } : { name: 'slow', path: '/v1/slow?limit=200' }),
    show(name, answer) {
      if (name === 'nodes') return app.nodes.learn(answer.nodes);
      const waiting = answer.sessions.reduce((sum, { queuedBytes }) => sum + queuedBytes, 0);
      say(counted, answer.total === 0 ? '' : `${many(answer.total, 'session')}, for which ${bytes(waiting)} wait.`
        + shownOf(answer.sessions, answer.total));
      table.show(answer.sessions);
    },
  };
}
