// One topic: position, members, state, ledger, its newest events, and a form that publishes.
import { make, say, tell } from '/inspector/dom.js';
import { part } from '/inspector/api.js';
import { Figures } from '/inspector/figures.js';
import { number } from '/inspector/format.js';
import { field, link } from '/inspector/form.js';
import { Table } from '/inspector/table.js';
import { Tail } from '/inspector/tail.js';

export function openTopic(content, parameters, app) {
  const topic = parameters.get('topic') ?? '';
  const base = `/v1/topics/${part(topic)}`;
  const figures = new Figures(['Offset', 'Epoch', 'Sessions here', 'Subscribed shards', 'Ledger']);
  const state = make('pre', { tabindex: '0', 'aria-label': 'State' });
  const ledger = new Table('Ledger', [
    { label: 'Of this gateway', text: ([name]) => name },
    { label: 'Count', text: ([, count]) => number(count), kind: 'number' },
  ], { key: ([name]) => name });
  const tail = new Tail(topic);
  const links = make('p', {},
    make('a', { href: link('sessions', { topic }) }, 'Sessions on this topic'), ' · ',
    make('a', { href: link('why', { topic }) }, 'Why did a user not get an event?'));
  content.append(links, figures.node, make('div', { class: 'columns' }, tail.node,
    make('div', { class: 'stack' }, publishForm(topic, app),
      make('section', { class: 'card', 'aria-label': 'State' }, make('h2', {}, 'State'), state),
      make('section', { 'aria-label': 'Ledger' }, make('h2', {}, 'Ledger'), ledger.node))));
  const shown = ['–', '–', '–', '–', '–'].map((text) => [text]);
  const put = (from, values) => {
    shown.splice(from, values.length, ...values);
    figures.show(shown);
  };
  return {
    title: `Topic ${topic}`,
    next(tick) {
      if (tick % 4 === 0) return { name: 'summary', path: base };
      return tick % 4 === 2 ? { name: 'audit', path: `${base}/audit` } : tail.next;
    },
    show(name, answer) {
      if (name === 'events') return tail.show(answer);
      if (name === 'summary') {
        const { epoch, offset, subscribers, state: now } = answer;
        tail.begin(epoch, offset);
        put(0, [[number(offset)], [epoch ?? 'none'], [number(subscribers.sessions)], [number(subscribers.nodes)]]);
        return say(state, now === null ? 'This topic has no state.' : JSON.stringify(now, null, 2));
      }
      put(4, [answer.balanced ? ['balanced'] : ['not balanced', 'red']]);
      ledger.show(Object.entries(answer.ledger));
    },
  };
}

/** A form that publishes on the topic. */
function publishForm(topic, app) {
  const event = field({ name: 'event', label: 'Event', isRequired: true, placeholder: 'queue:update' });
  const data = field({ name: 'data', label: 'Data (a JSON object)', value: '{}', rows: 4 });
  const problem = make('p', { class: 'error', role: 'alert' });
  const receipt = make('p', { role: 'status' });
  const form = make('form', { class: 'card form', 'aria-label': 'Publish' }, make('h2', { class: 'whole' }, 'Publish'),
    event.node, data.node, make('button', { type: 'submit', class: 'strong' }, 'Publish'), problem, receipt);
  form.addEventListener('submit', async (submitted) => {
    submitted.preventDefault();
    say(problem, '');
    tell(receipt, '');
    let value;
    try {
      value = JSON.parse(data.control.value);
    } catch (error) {
      return say(problem, `The data are not JSON: ${error.message}`);
    }
    try {
      const message = { topic, event: event.control.value.trim(), data: value };
      const { offset, epoch } = await app.send('POST', '/v1/broadcast', message);
      receipt.replaceChildren(`Published as offset ${offset}. `,
        make('a', { href: link('trace', { topic, offset, epoch }) }, 'What became of it?'));
      receipt.hidden = false;
    } catch (failure) {
      say(problem, failure.sentence ?? failure.message);
    }
  });
  return form;
}
