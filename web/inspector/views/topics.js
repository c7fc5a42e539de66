// The topics with the largest figures, over all gateways.
import { make, say } from '/inspector/dom.js';
import { path } from '/inspector/api.js';
import { bytes, many, number, shownOf } from '/inspector/format.js';
import { field, given, link, search } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

const SORTS = [['members', 'members'], ['rate', 'events a minute'], ['bytes', 'bytes a minute']];
const LIMITS = [['50', '50 rows'], ['200', '200 rows'], ['500', '500 rows']];
const COLUMNS = [
  { label: 'Topic', text: ({ topic }) => topic, href: ({ topic }) => link('topic', { topic }), kind: 'code' },
  { label: 'Members', text: ({ members }) => number(members), kind: 'number' },
  { label: 'Events a minute', text: ({ eventsPerMinute }) => number(eventsPerMinute), kind: 'number' },
  { label: 'Bytes a minute', text: ({ bytesPerMinute }) => bytes(bytesPerMinute), kind: 'number' },
  { label: 'Shards with members', text: ({ nodes }) => number(nodes), kind: 'number' },
];

export function openTopics(content, parameters) {
  const form = search('topics', [
    { name: 'sort', label: 'Largest by', choices: SORTS }, { name: 'namespace', label: 'Namespace' },
    { name: 'limit', label: 'Show', choices: LIMITS },
  ], parameters);
  const counted = make('p', { class: 'muted', role: 'status' });
  const table = new Table('Topics', COLUMNS, { key: ({ topic }) => topic, empty: 'No topic has members now.' });
  content.append(make('div', { class: 'between' }, form, openOne()), counted, table.node);
  const query = given(parameters, 'sort', 'namespace', 'limit');
  return {
    next: () => ({ name: 'topics', path: path('/v1/topics', query) }),
    show(_, { topics, total }) {
      say(counted, `${many(total, 'topic')} on all shards; rates are means of the last 30 to 60 seconds.`
        + shownOf(topics, total));
      table.show(topics);
    },
  };
}

/** A form for a topic that is not in the list. */
function openOne() {
  const { control, node } = field({ name: 'topic', label: 'Any topic', placeholder: 'shop:42', isRequired: true });
  const form = make('form', { class: 'search' }, node, make('button', { type: 'submit' }, 'Open'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    location.hash = link('topic', { topic: control.value.trim() });
  });
  return form;
}
