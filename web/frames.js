// "Show the frames": what a tab's own connections carry, newest first. Every tab has this one view of its wire.
import { element, make, say } from '/dom.js';

const ways = { in: ['↓', 'In'], out: ['↑', 'Out'], note: ['·', 'Note'] };

export class FramesView {
  #tab;
  #wire;
  #rows = new Map();
  #isOpen;
  #isDrawScheduled = false;

  /** Adds the view to the end of a tab; open when it was left open in this window. */
  constructor(tab, wire) {
    [this.#tab, this.#wire] = [tab, wire];
    element(`app-${tab}`).append(this.#make());
    this.#at('toggle').addEventListener('click', () => this.#show(!this.#isOpen));
    this.#at('copy').addEventListener('click', () => this.#copy());
    wire.onChange = () => this.#schedule();
    this.#show(this.#wasOpen());
  }

  #id(part) {
    return `frames-${this.#tab}-${part}`;
  }

  #at(part) {
    return element(this.#id(part));
  }

  #make() {
    const id = (part) => this.#id(part);
    return make('section', { class: 'card frames', 'aria-labelledby': id('heading') },
      make('h2', { id: id('heading'), class: 'visually-hidden' }, 'Frames'),
      make('div', { class: 'buttons' },
        make('button', { id: id('toggle'), type: 'button', 'aria-controls': id('shown') }, ''),
        make('button', { id: id('copy'), type: 'button' }, 'Copy the frames'),
        make('span', { id: id('copied'), class: 'muted', role: 'status' })),
      make('div', { id: id('shown') },
        make('p', { id: id('line'), class: 'muted' }),
        make('ol', { id: id('list'), class: 'wire', tabindex: '0', 'aria-label': 'Frames, newest first' })));
  }

  #wasOpen() {
    try {
      return sessionStorage.getItem(this.#stored) === 'open';
    } catch {
      return false;
    }
  }

  get #stored() {
    return `switchboard.frames.${this.#tab}`;
  }

  #show(isOpen) {
    this.#isOpen = isOpen;
    const toggle = this.#at('toggle');
    toggle.setAttribute('aria-expanded', String(isOpen));
    say(toggle, isOpen ? 'Hide the frames' : 'Show the frames');
    for (const part of ['copy', 'copied', 'shown']) this.#at(part).hidden = !isOpen;
    say(this.#at('copied'), '');
    try {
      sessionStorage.setItem(this.#stored, isOpen ? 'open' : 'closed');
    } catch {
      // Without storage a reload begins with hidden frames.
    }
    this.#schedule();
  }

  /** However much passes, it is drawn once a frame of the screen, and only for somebody who looks. */
  #schedule() {
    if (!this.#isOpen || this.#isDrawScheduled) return;
    this.#isDrawScheduled = true;
    requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#isDrawScheduled = false;
    if (!this.#isOpen) return;
    say(this.#at('line'), lineOf(this.#wire));
    const list = this.#at('list');
    const kept = new Set(this.#wire.frames.map(({ number }) => number));
    for (const [number, row] of this.#rows) {
      if (kept.has(number)) continue;
      row.remove();
      this.#rows.delete(number);
    }
    const fresh = this.#wire.frames.filter(({ number }) => !this.#rows.has(number));
    for (const frame of fresh) this.#rows.set(frame.number, rowOf(frame));
    list.prepend(...fresh.map(({ number }) => this.#rows.get(number)));
  }

  async #copy() {
    const text = [lineOf(this.#wire), ...this.#wire.frames.map(textOf)].join('\n\n');
    try {
      await navigator.clipboard.writeText(text);
      say(this.#at('copied'), 'Copied.');
    } catch {
      say(this.#at('copied'), 'This browser does not let the page copy.');
    }
  }
}

/** One line: which protocol, where, and about what. */
function lineOf({ dialect, path, topics }) {
  if (path === null) return `${dialect}. Not connected yet.`;
  const about = topics.size === 0 ? 'No topic yet' : `Topics: ${[...topics].join(', ')}`;
  return `${dialect}, at ${path}. ${about}.`;
}

function clock(at) {
  return `${at.toLocaleTimeString([], { hour12: false })}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

function rowOf({ way, at, heading, topic, body }) {
  const [sign, word] = ways[way];
  const head = make('p', {}, make('span', { class: 'way', 'aria-hidden': 'true' }, sign),
    make('span', { class: 'visually-hidden' }, `${word}: `), make('strong', {}, heading), ' ',
    make('span', { class: 'muted' }, topic), ' ', make('time', { datetime: at.toISOString() }, clock(at)));
  const row = make('li', { class: way }, head);
  if (body !== '') row.append(make('pre', {}, body));
  return row;
}

function textOf({ way, at, heading, topic, body }) {
  return [`${ways[way][1]} ${at.toISOString()} ${heading}${topic === '' ? '' : ` ${topic}`}`, body]
    .filter((part) => part !== '').join('\n');
}
