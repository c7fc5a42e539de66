// What became of one event, for every session that had to do with its topic.
import { make, say } from '/inspector/dom.js';
import { part, path } from '/inspector/api.js';
import { Figures } from '/inspector/figures.js';
import { bytes, number, time } from '/inspector/format.js';
import { link, search } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

/** Fates in words, and whether the session lost the event. */
export const FATES = {
  written: ['good', 'Written to its connection'], recovered: ['good', 'Given when it came back'],
  waiting: ['warned', 'Waits for the client to read'], coming: ['warned', 'On its way'],
  had_before: ['plain', 'Had it before'], joined_later: ['plain', 'Joined later'],
  lost_at_join: ['red', 'No longer in the log when it joined'],
  other_epoch_at_join: ['red', 'Came with a position of another epoch'], other_epoch: ['plain', 'Of another epoch'],
  conflated: ['red', 'Replaced by a newer event'], gap: ['red', 'Told as a gap'], reset: ['red', 'Lost by a reset'],
  unsent: ['red', 'Not written before the session ended'], left_before: ['plain', 'Left before'],
  unknown: ['plain', 'Not known'],
};

const fate = ({ subscriptions }) => subscriptions.findLast(({ fate: word }) => word !== undefined)?.fate ?? 'unknown';

export function openTrace(content, parameters, app) {
  const [topic, offset, epoch] = ['topic', 'offset', 'epoch'].map((name) => parameters.get(name) ?? '');
  const form = search('trace', [
    { name: 'topic', label: 'Topic', isRequired: true },
    { name: 'offset', label: 'Offset', isRequired: true, kind: 'number' },
    { name: 'epoch', label: 'Epoch (of now if empty)' },
  ], parameters, 'Follow');
  content.append(form);
  if (topic === '' || offset === '') return {};
  const figures = new Figures(['Event', 'Published', 'Size', 'In the log', 'Never subscribed']);
  const fates = make('p', { role: 'status' });
  const table = new Table('Sessions', [
    { label: 'Caller', text: ({ user, key }) => user ?? key ?? 'without a token',
      href: ({ user }) => (user === null ? null : link('why', { user, topic, offset, epoch })) },
    { label: 'Event', state: (row) => FATES[fate(row)] ?? ['plain', fate(row)] },
    { label: 'Session', text: ({ id }) => id, kind: 'code' },
    { label: 'Gateway', text: ({ node }) => app.nodes.name(node), kind: 'code' },
    { label: 'Address', text: ({ address }) => address ?? '–', kind: 'code' },
    { label: 'Since', text: ({ since }) => time(since), kind: 'brief' },
    { label: 'Ended', text: ({ closed, why }) => (closed === null ? '–' : `${time(closed)}: ${why}`) },
  ], { key: ({ id }) => id, empty: 'No session had to do with this topic within the last hour.' });
  content.append(figures.node, fates, table.node);
  return {
    title: `Event ${offset} of ${topic}`,
    next: (tick) => (tick === 1 ? { name: 'nodes', path: '/v1/nodes' }
      : { name: 'trace', path: path(`/v1/topics/${part(topic)}/trace`, { offset, epoch }) }),
    show(name, answer) {
      if (name === 'nodes') return app.nodes.learn(answer.nodes);
      const { event, fates: counts, neverSubscribed, sessions, total } = answer;
      figures.show([
        [event.name ?? (event.published ? 'not in the log' : 'none'), event.published ? '' : 'red'],
        [event.published ? time(event.at) : 'no', event.published ? '' : 'red'], [bytes(event.bytes)],
        [event.logged ? 'yes' : 'no'], [number(neverSubscribed)],
      ]);
      const told = Object.entries(counts).map(([word, count]) =>
        `${number(count)} × ${(FATES[word]?.[1] ?? word).toLowerCase()}`);
      say(fates, event.published ? `${told.join(', ') || 'No subscription had to do with it'}.`
        + (total > sessions.length ? ` Shown are ${number(sessions.length)}, those that lost it first.` : '')
        : `Nothing was published at this offset. The newest event is ${event.newest ?? 'none'}.`);
      table.show(sessions);
    },
  };
}
