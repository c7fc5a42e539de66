// How far this gateway and its Redis are from their limits.
import { make } from '/inspector/dom.js';
import { bytes, figure, number } from '/inspector/format.js';
import { Metrics } from '/inspector/metrics.js';
import { Table } from '/inspector/table.js';

/** Limits with a figure of now: [name, unit, the figure, the limit]; a limit without a name is a metric of its own. */
const PAIRS = [
  ['Connections', number, (page) => page.value('connections'), 'connectionsMax'],
  ['Connections not established', number, (page) => page.value('connections_unauthenticated'), 'unauthenticatedMax'],
  ['TLS handshakes waiting', number, (page) => page.value('tls_handshakes_waiting'), 'handshakesPendingMax'],
  ['Memory', bytes, (page) => page.value('resident_bytes'), 'memoryBytesMax'],
  ['File descriptors', number, (page) => page.value('process_open_fds'), (page) => page.value('process_max_fds')],
  ['Entries of the outbox', number, (page) => page.value('outbox_entries'), 'outboxMax'],
];

const percent = ({ now, max }) => (max > 0 && Number.isFinite(now) ? (now / max) * 100 : NaN);
const kind = (row) => (percent(row) >= 90 ? 'red' : percent(row) >= 70 ? 'warned' : 'good');

export function openHeadroom(content) {
  const used = new Table('Used of the limits', [
    { label: 'What', text: ({ name }) => name },
    { label: 'Used', state: (row) => (Number.isNaN(percent(row)) ? ['plain', 'no bound']
      : [kind(row), `${figure(percent(row))} %`]) },
    { label: 'Now', text: ({ now, unit }) => unit(now), kind: 'number' },
    { label: 'Limit', text: ({ max, unit }) => (max > 0 ? unit(max) : 'none'), kind: 'number' },
    { label: 'Left', text: ({ now, max, unit }) => (max > 0 ? unit(Math.max(0, max - now)) : '–'), kind: 'number' },
  ], { key: ({ name }) => name });
  const limits = new Table('All limits', [
    { label: 'Limit', text: ([name]) => name, kind: 'code' },
    { label: 'Value', text: ([, value]) => number(value), kind: 'number' },
  ], { key: ([name]) => name });
  content.append(used.node, make('section', { 'aria-label': 'All limits' },
    make('h2', {}, 'All limits of this gateway'), limits.node));
  return {
    next: () => ({ name: 'metrics', path: '/metrics', isText: true }),
    show(_, text) {
      const page = new Metrics(text);
      const known = page.by('limit', 'name');
      const bound = (limit) => (typeof limit === 'string' ? known.get(limit) ?? NaN : limit(page));
      const rows = PAIRS.map(([name, unit, now, limit]) => ({ name, unit, now: now(page), max: bound(limit) }))
        .filter(({ now }) => Number.isFinite(now));
      for (const [address, max] of page.by('redis_maxmemory_bytes', 'address')) {
        const now = page.value('redis_used_bytes', { address });
        rows.push({ name: `Memory of Redis at ${address}`, unit: bytes, now, max });
      }
      used.show(rows.sort((one, other) => (percent(other) || 0) - (percent(one) || 0)));
      limits.show([...known].sort(([one], [other]) => one.localeCompare(other)));
    },
  };
}
