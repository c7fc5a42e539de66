// What just happened, newest first, and its announcements to those who do not see it.
import { element, make, say } from '/dom.js';

/** Rows kept in the list. */
const rowsMax = 30;
/** Least time between two announcements, so that a screen reader is not talked over. */
const announceEveryMs = 8_000;

export class Activity {
  #pending = [];
  #isDrawScheduled = false;
  #announcedAt = -announceEveryMs;

  /** Adds a sentence; `kind` is queue, music, points, booking, gap or other. */
  add(kind, sentence) {
    this.#pending.push({ kind, sentence, at: new Date() });
    if (this.#pending.length > rowsMax) this.#pending = this.#pending.slice(-rowsMax);
    if (this.#isDrawScheduled) return;
    this.#isDrawScheduled = true;
    // However much arrives, it is drawn once a frame; a hidden tab draws when it is seen again.
    requestAnimationFrame(() => this.#draw());
  }

  /** Tells that events were missed; the panel has asked for its state anew. */
  gap(what, { reason, missed }) {
    const some = missed === null ? 'Some updates' : `${missed} ${missed === 1 ? 'update' : 'updates'}`;
    this.add('gap', `${some} of ${what} missed: ${reason ?? 'no reason given'}`);
  }

  /** An event that no panel knows: a backend's own. */
  other(topic, name) {
    this.add('other', `${name} on ${topic}`);
  }

  #draw() {
    this.#isDrawScheduled = false;
    const list = element('activity-list');
    const latest = this.#pending.at(-1);
    list.prepend(...this.#pending.reverse().map(row));
    this.#pending = [];
    while (list.childElementCount > rowsMax) list.lastElementChild.remove();
    element('activity-empty').hidden = true;
    const now = performance.now();
    if (now - this.#announcedAt < announceEveryMs) return;
    this.#announcedAt = now;
    say('announcement', latest.sentence);
  }
}

function row({ kind, sentence, at }) {
  const clock = at.toLocaleTimeString([], { hour12: false });
  return make('li', { class: kind },
    make('span', { class: 'dot', 'aria-hidden': 'true' }), make('span', { class: 'what' }, sentence),
    make('time', { datetime: at.toISOString() }, clock));
}
