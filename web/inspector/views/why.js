// Why did a user not get an event? The gateway's own sentences, and the evidence beneath them.
import { make, say } from '/inspector/dom.js';
import { path } from '/inspector/api.js';
import { brief } from '/inspector/format.js';
import { given, link, search } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

const VERDICTS = {
  delivered: ['good', 'It was delivered'], had_before: ['good', 'The client had it before'],
  waiting: ['warned', 'It waits for the client'], never_subscribed: ['warned', 'The user never subscribed'],
  no_rights: ['warned', 'The user has no right to the topic'], joined_later: ['warned', 'The user joined later'],
  left_before: ['warned', 'The user had left'], conflated: ['red', 'A newer event took its place'],
  slow_closed: ['red', 'The client read too slowly and was closed'],
  not_written: ['red', 'The connection ended before it was written'], gap_told: ['red', 'The client was told of a gap'],
  other_epoch: ['warned', 'It is of another epoch'], node_gone: ['warned', 'The gateway of the user is gone'],
  token_refused: ['warned', 'The token was refused'], muted_by_block: ['warned', 'A block between users hides it'],
  not_published: ['warned', 'No event has this offset'], unknown: ['plain', 'The records do not tell'],
};

/** A sentence whose names stand between backticks. */
const withCode = (sentence) => sentence.split('`')
  .map((part, index) => (index % 2 === 0 ? part : make('code', {}, part)));

/** A fact without what it leaves open. */
const told = (fact) => Object.entries(fact).filter(([, value]) => value !== null && value.length !== 0)
  .map(([name, value]) => `${name} ${brief(value, 400)}`).join(' · ');

export function openWhy(content, parameters) {
  const asked = given(parameters, 'user', 'topic', 'offset', 'epoch');
  const form = search('why', [
    { name: 'user', label: 'User', isRequired: true }, { name: 'topic', label: 'Topic', isRequired: true },
    { name: 'offset', label: 'Offset of the event', isRequired: true, kind: 'number' },
    { name: 'epoch', label: 'Epoch (of now if empty)' },
  ], parameters, 'Ask');
  content.append(form);
  if (!asked.user || !asked.topic || !asked.offset) return {};
  const verdict = make('span', { class: 'chip verdict' });
  const sentences = make('ol', { class: 'sentences', 'aria-label': 'Sentences' });
  const evidence = new Table('Evidence', [
    { label: 'Kind', text: ({ kind }) => kind },
    { label: 'Fact', kind: 'wide code', text: ({ kind: _, ...fact }) => told(fact) },
  ], { key: (fact) => JSON.stringify([fact.kind, fact.id, fact.node, fact.shard, fact.topic]) });
  content.append(make('section', { class: 'card', 'aria-label': 'Answer' },
    make('h2', { role: 'status' }, verdict), sentences,
    make('p', {}, make('a', { href: link('trace', { ...asked, user: null }) }, 'The event for all sessions'), ' · ',
      make('a', { href: link('sessions', { user: asked.user }) }, 'Sessions of the user'))),
  make('section', { 'aria-label': 'Evidence' }, make('h2', {}, 'Evidence'), evidence.node));
  return {
    title: `Why did ${asked.user} not get event ${asked.offset} of ${asked.topic}?`,
    // An answer reads records of all gateways: it is asked for more seldom than others.
    next: (tick) => (tick % 5 === 0 ? { name: 'why', path: path('/v1/why', asked) } : null),
    show(_, answer) {
      const [kind, text] = VERDICTS[answer.verdict] ?? ['plain', answer.verdict];
      verdict.dataset.kind = kind;
      say(verdict, text);
      if (sentences.dataset.told !== answer.sentences.join('\n')) {
        sentences.dataset.told = answer.sentences.join('\n');
        sentences.replaceChildren(...answer.sentences.map((sentence) => make('li', {}, ...withCode(sentence))));
      }
      evidence.show(answer.evidence);
    },
  };
}
