// Deliveries that couriers gave up: read, tried again, or dropped.
import { make, say } from '/inspector/dom.js';
import { path } from '/inspector/api.js';
import { ask } from '/inspector/dialog.js';
import { brief, many, time } from '/inspector/format.js';
import { link, search } from '/inspector/form.js';
import { Table } from '/inspector/table.js';

const RETRY = '/v1/dead-letters/retry';
const LETTERS = '/v1/dead-letters';

export function openDead(content, parameters, app) {
  const service = parameters.get('service') ?? '';
  const names = make('p', { class: 'muted', role: 'status' }, 'Looking for services and receivers.');
  content.append(search('dead', [
    { name: 'service', label: 'Service, or webhooks:RECEIVER', isRequired: true, placeholder: 'webhooks:kitchen' },
  ], parameters), names);
  const boxes = { couriers: [], webhooks: [] };
  const tellBoxes = () => {
    const all = [...boxes.webhooks, ...boxes.couriers];
    if (all.length === 0) return say(names, 'No service and no receiver is known to this gateway.');
    if (names.dataset.told === all.join()) return;
    names.dataset.told = all.join();
    names.replaceChildren('Known here: ', ...all.flatMap((one, index) => [index > 0 ? ', ' : '',
      make('a', { href: link('dead', { service: one }) }, one)]), '.');
  };
  const letters = service === '' ? null : new Letters(service, parameters, app);
  if (letters !== null) content.append(letters.node);
  const known = [{ name: 'webhooks', path: '/v1/webhooks' }, { name: 'couriers', path: '/v1/couriers' }];
  return {
    next(tick) {
      if (letters === null) return known[tick % 2];
      return tick === 1 || tick === 2 ? known[tick - 1] : letters.next;
    },
    show(name, answer) {
      if (name === 'letters') return letters.show(answer);
      boxes[name] = name === 'webhooks' ? answer.webhooks.map(({ receiver }) => `webhooks:${receiver}`)
        : answer.services.map((one) => one.service);
      tellBoxes();
    },
  };
}

/** The letters of one box, a page of them. */
class Letters {
  #service;
  #after;
  #app;
  #counted = make('p', { role: 'status' });
  #more = make('a', { hidden: true }, 'Next page');
  #all;
  #table;

  constructor(service, parameters, app) {
    this.#service = service;
    this.#after = parameters.get('after') ?? '';
    this.#app = app;
    const names = ({ id }) => `letter ${id}`;
    this.#table = new Table('Dead letters', [
      { label: 'Letter', text: ({ id }) => id, kind: 'code' },
      { label: 'Given up', text: ({ timestamp }) => time(timestamp), kind: 'brief' },
      { label: 'Reason', text: ({ reason }) => reason ?? '–', kind: 'wide' },
      { label: 'What', kind: 'code',
        text: ({ command, topic, event }) => command ?? `${event ?? 'a hole'} on ${topic ?? '?'}`,
        href: ({ topic }) => (topic ? link('topic', { topic }) : null) },
      { label: 'Content', kind: 'wide code',
        text: (letter) => brief(letter.data ?? letter.arguments ?? letter.request, 200) },
      { label: 'Actions', actions: [
        { label: 'Retry…', act: (letter) => this.#retry(letter), names },
        { label: 'Drop…', act: (letter) => this.#drop(letter), names },
      ] },
    ], { key: ({ id }) => id, empty: 'No letter: nothing was given up, or all of it is done.' });
    const button = (label, act) => make('button', { type: 'button', on: { click: act } }, label);
    this.#all = make('div', { class: 'buttons' }, button('Retry these…', () => this.#retry(null)),
      button('Drop all…', () => this.#drop(null)));
    this.node = make('div', { class: 'stack' }, make('div', { class: 'between' }, this.#counted, this.#all),
      this.#table.node, this.#more);
  }

  get next() { return { name: 'letters', path: path(LETTERS, { service: this.#service, after: this.#after }) }; }

  show({ deadLetters, next }) {
    say(this.#counted, deadLetters.length === 0 ? '' : `${many(deadLetters.length, 'letter')} of ${this.#service}`
      + `${next === null ? '' : ' on this page'}, the oldest first.`);
    this.#all.hidden = deadLetters.length === 0;
    this.#more.hidden = next === null;
    if (next !== null) this.#more.href = link('dead', { service: this.#service, after: next });
    this.#table.show(deadLetters);
  }

  #retry(letter) {
    const isWebhook = this.#service.startsWith('webhooks:');
    ask({
      title: letter === null ? `Retry the letters of this page?` : `Retry letter ${letter.id}?`,
      text: isWebhook
        ? 'The receiver is set back to that event: it gets it again, and the events of its topic behind it, with the '
          + 'ids that they had.'
        : 'The call waits for a courier as it did at first. Its command may have been told of the failure, and is '
          + 'told again.',
      action: 'Retry',
      act: () => this.#app.send('POST', path(RETRY, { service: this.#service, id: letter?.id,
        after: letter === null ? this.#after : undefined })),
      done: ({ retried, gone }) => this.#app.done(`${many(retried, 'letter')} of ${this.#service} will be tried again`
        + `${gone > 0 ? `; ${many(gone, 'letter')} cannot be, since the log has the event no longer` : ''}.`),
    });
  }

  #drop(letter) {
    ask({
      title: letter === null ? `Drop all letters of ${this.#service}?` : `Drop letter ${letter.id}?`,
      text: letter === null ? 'Every letter of it is deleted, also those on other pages. This cannot be taken back.'
        : 'The letter is deleted, and its delivery is not tried again. This cannot be taken back.',
      action: letter === null ? 'Drop all' : 'Drop the letter',
      act: () => this.#app.send('DELETE', path(LETTERS, { service: this.#service, id: letter?.id })),
      done: ({ dropped }) => this.#app.done(`${many(dropped, 'letter')} of ${this.#service} dropped.`),
    });
  }
}
