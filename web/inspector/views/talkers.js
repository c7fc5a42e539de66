// Callers that ask most: by events, bytes, refusals, or Redis's time.
import { make, say } from '/inspector/dom.js';
import { path } from '/inspector/api.js';
import { bytes, many, milliseconds, number, shownOf } from '/inspector/format.js';
import { link, search } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

const BY = [['user', 'user'], ['address', 'address'], ['namespace', 'namespace'], ['key', 'API key']];
const SORTS = [['events', 'events'], ['bytes', 'bytes'], ['refusals', 'refusals'], ['redisUs', "Redis's time"]];

export function openTalkers(content, parameters) {
  const by = BY.some(([name]) => name === parameters.get('by')) ? parameters.get('by') : 'user';
  const form = search('talkers', [
    { name: 'by', label: 'Callers by', choices: BY, value: by }, { name: 'sort', label: 'Most', choices: SORTS },
  ], parameters);
  const hrefs = {
    user: ({ user }) => link('sessions', { user }), address: ({ address }) => link('sessions', { address }),
    namespace: ({ namespace }) => link('topics', { namespace, sort: 'rate' }),
  };
  const table = new Table('Talkers', [
    { label: BY.find(([name]) => name === by)[1], text: (row) => row[by], kind: 'code', href: hrefs[by] },
    { label: 'Events', text: ({ events }) => number(events), kind: 'number' },
    { label: 'Bytes', text: (row) => bytes(row.bytes), kind: 'number' },
    { label: 'Refusals', text: ({ refusals }) => number(refusals), kind: 'number' },
    { label: "Redis's time", text: ({ redisUs }) => milliseconds(redisUs / 1_000), kind: 'number' },
  ], { key: (row) => row[by], empty: 'Nobody was counted within the last two minutes.' });
  const counted = make('p', { class: 'muted', role: 'status' });
  content.append(form, counted, table.node);
  return {
    next: () => ({ name: 'talkers', path: path('/v1/talkers', { by, sort: parameters.get('sort') }) }),
    show(_, { talkers, total }) {
      say(counted, total === 0 ? '' : `${many(total, 'caller')} counted.${shownOf(talkers, total)}`);
      table.show(talkers);
    },
  };
}
