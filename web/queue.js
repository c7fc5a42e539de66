// The shop's queue: how long the wait is now, who is at work, who is present, and what time it is in the demo.
import { count, element, say, text } from '/dom.js';
import { follow, request } from '/follow.js';

const minutes = (value) => count(value, 100_000);

/**
 * The wait that is shown: one number of minutes, and how long it may become when that is estimated.
 *
 * Where the shop has an estimate {p50, p90}, the number is the estimate's, which may differ much from the formula's.
 */
function shownWait(estimate, formula) {
  const [likely, late] = [minutes(estimate?.p50), minutes(estimate?.p90)];
  if (likely === null || late === null || late < likely) return { wait: minutes(formula), range: '' };
  return { wait: likely, range: late === likely ? '' : `Likely ${likely} to ${late} min` };
}

export class QueuePanel {
  #client;
  #shopId;
  #activity;
  #last = null;

  constructor(client, shopId, activity) {
    this.#client = client;
    this.#shopId = shopId;
    this.#activity = activity;
    follow(client, `shop:${shopId}`, {
      live: ({ recovered, state }) => {
        element('queue').setAttribute('aria-busy', 'false');
        if (recovered) return;
        if (state) this.#show(state);
        this.#askPresent();
      },
      event: (name, data) => this.#event(name, data),
      gap: (gap) => activity.gap('the queue', gap),
      refused: ({ message }) => say('queue-note', message),
    });
  }

  /** How many are present is not in the state; from now on changes of it are told. */
  async #askPresent() {
    try {
      const { count: present } = await request(this.#client, 'presence_count', { shopId: this.#shopId });
      say('queue-present', count(present) ?? '–');
    } catch {
      // The next change tells it.
    }
  }

  #event(name, data) {
    switch (name) {
      case 'queue:update': return this.#update(data);
      case 'presence:update': return say('queue-present', count(data.count) ?? 0);
      case 'demo:clock': return this.#clock(data);
      default: return this.#activity.other(`shop:${this.#shopId}`, name);
    }
  }

  #clock({ time, day, isOpen }) {
    if (typeof time !== 'string') return;
    element('clock').hidden = false;
    say('clock-time', `${text(day, 12)} ${text(time, 8)}`.trim());
    say('clock-open', isOpen === false ? 'closed' : 'open');
  }

  #update(status) {
    const before = this.#last;
    this.#show(status);
    const now = this.#last;
    if (before === null || now === null) return;
    if (now.waiting !== before.waiting) {
      this.#activity.add('queue', `${people(now.waiting)} waiting, ${now.text}`);
    } else if (now.barbers !== before.barbers) {
      this.#activity.add('queue', `${now.barbers} ${now.barbers === 1 ? 'barber' : 'barbers'} at work, ${now.text}`);
    }
  }

  #show(status) {
    const waiting = count(status.queueLength);
    const { wait, range } = shownWait(status.estimate, status.avgWaitTime);
    if (waiting === null || wait === null) return;
    const barbers = count(status.currentlyServing) ?? 0;
    const card = shownWait(status.estimate?.blackCard, status.estimatedWaitTimes?.blackCard).wait;
    const isClosed = barbers === 0;
    this.#last = { waiting, barbers, text: isClosed ? 'nobody is cutting' : `${wait} min` };
    element('queue').classList.toggle('closed', isClosed);
    element('queue-wait').hidden = isClosed;
    say('queue-wait', wait);
    say('queue-unit', isClosed ? 'Nobody is cutting now' : 'min wait');
    say('queue-waiting', waiting);
    say('queue-barbers', barbers);
    say('queue-card', card === null || isClosed ? '–' : `${card} min`);
    say('queue-range', isClosed ? '' : range);
    element('queue-range').hidden = isClosed || range === '';
    say('queue-note', '');
    const at = new Date(status.updatedAt);
    if (Number.isNaN(at.getTime())) return;
    const stamp = element('queue-updated');
    stamp.setAttribute('datetime', at.toISOString());
    say(stamp, at.toLocaleTimeString([], { hour12: false }));
    element('queue-updated-line').hidden = false;
  }
}

const people = (number) => (number === 0 ? 'Nobody' : number === 1 ? '1 person' : `${number} people`);
