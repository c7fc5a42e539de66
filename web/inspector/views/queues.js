// Work that waits: the outbox, workers, couriers with their services, and receivers of webhooks.
import { make, say } from '/inspector/dom.js';
import { Figures } from '/inspector/figures.js';
import { milliseconds, number, span, time } from '/inspector/format.js';
import { link } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

const error = (lastError) => (lastError === null ? '–' : `${time(lastError.at)}: ${lastError.reason}`);
const age = (seconds) => (seconds === 0 ? '–' : span(seconds));
const late = (seconds) => (seconds > 60 ? 'red' : seconds > 5 ? 'warned' : '');
const section = (title, table) => make('section', { 'aria-label': title }, make('h2', {}, title), table.node);

const PROCESS = [
  { label: 'Process', text: ({ id }) => id, kind: 'code' },
  { label: 'Version', text: ({ version }) => version },
  { label: 'Clock', text: ({ clockOffsetMs }) => milliseconds(clockOffsetMs ?? NaN), kind: 'number' },
];

export function openOutbox(content) {
  const figures = new Figures(['Entries', 'Oldest', 'Given up']);
  const last = make('p', {});
  const lanes = new Table('Lanes', [
    { label: 'Lane', text: ({ lane }) => lane, kind: 'code' },
    { label: 'Entries', text: ({ entries }) => number(entries), kind: 'number' },
    { label: 'Oldest', text: ({ oldestSeconds }) => span(oldestSeconds), kind: 'number' },
  ], { key: ({ lane }) => lane, empty: 'No lane has entries: every write to another home is done.' });
  content.append(figures.node, last, section('Lanes', lanes));
  return {
    next: () => ({ name: 'outbox', path: '/v1/outbox' }),
    show(_, { outbox }) {
      figures.show([[number(outbox.entries)], [span(outbox.oldestSeconds), late(outbox.oldestSeconds)],
        [number(outbox.dead), outbox.dead > 0 ? 'warned' : '']]);
      say(last, `Last error: ${outbox.lastError === null ? 'none is known.' : error(outbox.lastError)}`
        + (outbox.dead > 0 ? ' Entries that were given up are kept in #outbox-dead, and are not tried again.' : ''));
      lanes.show(outbox.lanes);
    },
  };
}

export function openWorkers(content) {
  const none = make('p', { class: 'notice red', role: 'status', hidden: true },
    'No worker is alive: nothing is recomputed, and the outbox stands still. Start a worker.');
  const table = new Table('Workers', [...PROCESS,
    { label: 'Partitions', text: ({ partitions }) => number(partitions), kind: 'number' }],
  { key: ({ id }) => id, empty: 'No worker has announced itself.' });
  content.append(none, table.node);
  return {
    next: () => ({ name: 'workers', path: '/v1/workers' }),
    show(_, { workers }) {
      none.hidden = workers.length > 0;
      table.show(workers);
    },
  };
}

export function openReceivers(content) {
  const webhooks = new Table('Receivers of webhooks', [
    { label: 'Receiver', text: ({ receiver }) => receiver,
      href: ({ receiver }) => link('dead', { service: `webhooks:${receiver}` }) },
    { label: 'State', state: ({ couriers, away }) => (couriers === 0 ? ['red', 'No courier']
      : away ? ['red', 'Away: single attempts are made'] : ['good', 'Taking']) },
    { label: 'Couriers', text: ({ couriers }) => number(couriers), kind: 'number' },
    { label: 'Topics in hand', text: ({ topicsBusy }) => number(topicsBusy), kind: 'number' },
    { label: 'Topics waiting', text: ({ topicsWaiting }) => number(topicsWaiting), kind: 'number' },
    { label: 'Failing for', text: ({ oldestSeconds }) => age(oldestSeconds), kind: 'number' },
    { label: 'Last error', text: ({ lastError }) => error(lastError), kind: 'wide' },
  ], { key: ({ receiver }) => receiver, empty: 'No receiver is configured, or no courier has announced one.' });
  const services = new Table('Services', [
    { label: 'Service', text: ({ service }) => service, href: ({ service }) => link('dead', { service }) },
    { label: 'State', state: ({ served }) => (served ? ['good', 'Served'] : ['red', 'No courier']) },
    { label: 'Waiting', text: ({ waiting }) => number(waiting), kind: 'number' },
    { label: 'Oldest', text: ({ oldestSeconds }) => age(oldestSeconds), kind: 'number' },
    { label: 'Given up', text: ({ dead }) => number(dead), kind: 'number' },
    { label: 'Last error', text: ({ lastError }) => error(lastError), kind: 'wide' },
  ], { key: ({ service }) => service, empty: 'No script names a service outside.' });
  const couriers = new Table('Couriers', PROCESS, { key: ({ id }) => id, empty: 'No courier has announced itself.' });
  content.append(section('Receivers of webhooks', webhooks), section('Services outside', services),
    section('Couriers', couriers));
  return {
    next: (tick) => (tick % 2 === 0 ? { name: 'webhooks', path: '/v1/webhooks' }
      : { name: 'couriers', path: '/v1/couriers' }),
    show(name, answer) {
      if (name === 'webhooks') return webhooks.show(answer.webhooks);
      services.show(answer.services);
      couriers.show(answer.couriers);
    },
  };
}
