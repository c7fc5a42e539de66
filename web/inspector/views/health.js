// The rows of readiness of the gateway that answers: what is broken stands first, with its mend.
import { make, say } from '/inspector/dom.js';
import { span, time } from '/inspector/format.js';
import { Table } from '/inspector/table.js';

const KINDS = { fine: 'good', warned: 'warned', red: 'red' };
const WORDS = { fine: 'Fine', warned: 'Warned', red: 'Red' };

const COLUMNS = [
  { label: 'Promise', text: ({ name }) => name, kind: 'code' },
  { label: 'State', state: ({ state, reason }) => [KINDS[state], WORDS[state] + (reason ? `: ${reason}` : '')] },
  { label: 'Since', text: ({ since }) => (since === null ? 'the start' : time(since)), kind: 'brief' },
  { label: 'Figures', kind: 'wide',
    text: ({ figures }) => Object.entries(figures).map(([name, value]) => `${name} ${value}`).join(', ') || '–' },
  { label: 'To do', kind: 'wide', text: ({ state, mend }) => (state === 'fine' ? '–' : mend) },
];

export function openHealth(content) {
  const verdict = make('p', { class: 'notice', role: 'status' });
  const table = new Table('Promises', COLUMNS, { key: ({ name }) => name });
  content.append(verdict, table.node);
  return {
    next: () => ({ name: 'health', path: '/v1/health' }),
    show(_, { status, node, version, uptimeSeconds, rows }) {
      const broken = rows.filter(({ state }) => state !== 'fine');
      const kind = status === 'ready' ? (broken.length > 0 ? 'warned' : 'good') : 'red';
      verdict.className = `notice ${kind}`;
      say(verdict, `Gateway ${node} is ${status}`
        + (broken.length > 0 ? `; look at ${broken.map(({ name }) => name).join(', ')}.`
          : ', and every promise holds.'));
      verdict.title = `Version ${version}, up for ${span(uptimeSeconds)}`;
      const weight = { red: 0, warned: 1, fine: 2 };
      table.show([...rows].sort((one, other) => weight[one.state] - weight[other.state]));
    },
  };
}
