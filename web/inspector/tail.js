// The newest events of a topic's log, as they come.
import { make, say } from '/inspector/dom.js';
import { part, path } from '/inspector/api.js';
import { brief, many } from '/inspector/format.js';
import { link } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

/** The most events that are shown. */
const SHOWN_MAX = 100;
/** Events of one question; when more have come meanwhile, the older ones are left out. */
const PAGE_MAX = 100;
/** Events before the newest with which the list begins. */
const BEFORE = 25;

export class Tail {
  #topic;
  /** The offset behind which the next question asks; null before the position of the topic is known. */
  #after = null;
  #epoch = null;
  #events = [];
  #leftOut = 0;
  #note = make('p', { class: 'muted', role: 'status' });
  #table;

  constructor(topic) {
    this.#topic = topic;
    this.#table = new Table('Newest events', [
      { label: 'Offset', text: ({ offset }) => String(offset), kind: 'number',
        href: ({ offset, epoch }) => link('trace', { topic, offset, epoch }) },
      { label: 'Event', text: ({ event }) => event, kind: 'code' },
      { label: 'Data', text: ({ data }) => brief(data, 300), kind: 'wide code' },
    ], { key: ({ epoch, offset }) => `${epoch}:${offset}`, empty: 'Waiting for the first event.' });
    this.node = make('section', { class: 'card', 'aria-label': 'Live tail' },
      make('h2', {}, 'Live tail'), this.#note, this.#table.node);
  }

  get next() {
    return { name: 'events', path: path(`/v1/topics/${part(this.#topic)}/events`,
      { after: this.#after ?? 0, limit: PAGE_MAX }) };
  }

  /** Takes the position of the topic: the first question begins a little before it. */
  begin(epoch, offset) {
    if (this.#after !== null) return;
    this.#epoch = epoch;
    this.#after = Math.max(0, offset - BEFORE);
  }

  show({ epoch, offset, first, events }) {
    const isNew = epoch !== this.#epoch;
    if (isNew && this.#epoch !== null) this.#leftOut = 0;
    this.#epoch = epoch;
    if (isNew) {
      this.#after = Math.max(0, offset - BEFORE);
      return this.#tell(offset, first);
    }
    this.#events = [...events.map((event) => ({ ...event, epoch })).reverse(), ...this.#events].slice(0, SHOWN_MAX);
    const reached = events.at(-1)?.offset ?? this.#after;
    if (offset - reached > PAGE_MAX) {
      this.#leftOut += offset - PAGE_MAX / 2 - reached;
      this.#after = offset - PAGE_MAX / 2;
    } else {
      this.#after = reached;
    }
    this.#table.show(this.#events);
    this.#tell(offset, first);
  }

  #tell(offset, first) {
    this.#table.sayEmpty(offset === 0 ? 'Nothing has been published on this topic.'
      : first === 0 ? 'The log of this topic is empty: its namespace keeps none, or the time of its events is over.'
        : 'Waiting for the first event.');
    say(this.#note, this.#leftOut > 0
      ? `Events come faster than they can be shown: ${many(this.#leftOut, 'event')} left out.`
      : 'From the log of the topic, newest first. An offset leads to what became of the event.');
  }
}
