// The wire of one session: what its client sends and gets, for a bounded time. The gateway replaces credentials.
import { make, say, tell } from '/inspector/dom.js';
import { part, path } from '/inspector/api.js';
import { ask } from '/inspector/dialog.js';
import { Figures } from '/inspector/figures.js';
import { bytes, many, milliseconds, number, time } from '/inspector/format.js';
import { link, search } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

/** The most messages that are shown. */
const SHOWN_MAX = 500;
const DURATIONS = [['30', '30 seconds'], ['10', '10 seconds'], ['60', '60 seconds']];
const ENDS = {
  time: 'Its time is over.', asked: 'You have ended it.', replaced: 'Another one took its place.',
  erased: "The user's data were erased.", normal: 'The client has left.',
};

const COLUMNS = [
  { label: 'Time', text: ({ at }) => `${time(at)}.${at.slice(20, 23)}`, kind: 'brief' },
  { label: 'Way', kind: 'brief',
    text: ({ direction }) => (direction === 'in' ? '→ from the client' : '← to the client') },
  { label: 'Kind', kind: 'brief',
    text: ({ kind }) => (['conflated', 'dropped'].includes(kind) ? `lost: ${kind}` : kind) },
  { label: 'Size', text: ({ bytes: size }) => bytes(size), kind: 'number' },
  { label: 'Text', text: shown, kind: 'wide code' },
];

function shown({ text, cut }) {
  if (text === null) return 'not text';
  return text === '' ? '–' : text + (cut ? '…' : '');
}

export function openWire(content, parameters, app) {
  const session = parameters.get('session') ?? '';
  const form = search('wire', [{ name: 'session', label: 'Session', isRequired: true }], parameters);
  content.append(form);
  if (session === '') {
    content.append(make('p', { class: 'card' }, 'Choose a session on the page ',
      make('a', { href: link('sessions') }, 'Sessions'), ', or write its id.'));
    return {};
  }
  const wire = new Wire(session, app);
  content.append(...wire.nodes);
  return {
    title: `Wire of ${session}`,
    next: () => wire.next,
    show: (_, answer) => wire.show(answer),
    close: () => wire.leave(),
  };
}

class Wire {
  #session;
  #app;
  /** The number of the newest message that was read; null while nothing is recorded. */
  #read = null;
  #messages = [];
  #start = make('button', { type: 'button', class: 'strong', on: { click: () => this.#ask() } }, 'Record…');
  #stop = make('button', { type: 'button', hidden: true, on: { click: () => this.#end() } }, 'Stop');
  #state = make('p', { role: 'status' },
    'Nothing is recorded. You need an API key with the right tap, and the gateway logs who watched whom.');
  #problem = make('p', { class: 'error', role: 'alert', hidden: true });
  #figures = new Figures(['User', 'Protocol', 'Messages', 'Ends in']);
  #table = new Table('Messages', COLUMNS, { key: ({ number: own }) => own, empty: 'No message has passed yet.' });

  constructor(session, app) {
    this.#session = session;
    this.#app = app;
    this.#figures.node.hidden = this.#table.node.hidden = true;
  }

  get nodes() {
    const buttons = make('div', { class: 'buttons' }, this.#start, this.#stop);
    return [make('section', { class: 'card stack', 'aria-label': 'Recording' }, this.#state, this.#problem, buttons),
      this.#figures.node, this.#table.node];
  }

  get #path() { return `/v1/sessions/${part(this.#session)}/tap`; }

  get next() {
    return this.#read === null ? null : { name: 'wire', path: path(this.#path, { after: this.#read }) };
  }

  #ask() {
    ask({
      title: `Record the wire of ${this.#session}?`,
      text: 'You will read what this client sends and gets, private messages included. Tokens are replaced. The '
        + 'gateway logs the name of your key, the session and its user, at the beginning and at the end.',
      fields: [{ name: 'seconds', label: 'For', choices: DURATIONS, value: '30' }],
      action: 'Record',
      act: ({ seconds }) => this.#app.send('POST', path(this.#path, { seconds })),
      done: (answer) => {
        this.#read = 0;
        this.#messages = [];
        this.#figures.node.hidden = this.#table.node.hidden = false;
        this.show(answer);
        this.#stop.hidden = false;
        this.#stop.focus();
        this.#app.refresh();
      },
    });
  }

  async #end() {
    tell(this.#problem, '');
    try {
      await this.#app.send('DELETE', this.#path);
      this.#app.refresh();
    } catch (failure) {
      tell(this.#problem, failure.sentence ?? failure.message);
    }
  }

  /** Ends a recording that nobody looks at any more; if that fails, it ends by itself. */
  leave() {
    if (this.#read !== null) this.#app.send('DELETE', this.#path).catch(() => {});
  }

  show({ tap, frames }) {
    this.#read = frames.at(-1)?.number ?? this.#read;
    this.#messages = [...frames.reverse(), ...this.#messages].slice(0, SHOWN_MAX);
    this.#table.show(this.#messages);
    this.#figures.show([[tap.user ?? tap.key ?? 'none'], [tap.dialect], [number(tap.messages)],
      [tap.ended === null ? milliseconds(tap.leftMs) : 'ended']]);
    const lost = tap.leftOut > 0
      ? ` ${many(tap.leftOut, 'message')} left out: they came faster than they are read.` : '';
    say(this.#state, (tap.ended === null ? 'Recording. The newest message stands first.'
      : `Ended: ${ENDS[tap.ended] ?? `the connection ended with ${tap.ended}.`}`) + lost);
    const isOver = tap.ended !== null && frames.length === 0;
    if (tap.ended !== null) {
      if (document.activeElement === this.#stop) this.#start.focus();
      this.#stop.hidden = true;
    }
    if (isOver) this.#read = null;
  }
}
