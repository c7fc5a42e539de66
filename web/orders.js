// An order's progress: the page listens as the app does, on the channel `order:demo`.
import { Channel } from '/channel.js';
import { element, make, say, text } from '/dom.js';
import { asking } from '/http.js';
import { Order, steps } from '/order.js';
import { tapped } from '/wire.js';

const orderId = 'demo';
/** Rows kept in the list of events. */
const eventsMax = 30;

export class OrderPanel {
  #ask;
  #order = new Order();
  #steps = [];

  constructor(origin, guest, wire) {
    this.#ask = asking(guest, wire);
    this.#steps = steps.map(({ name }) => make('li', {}, name));
    element('order-steps').append(...this.#steps);
    say('order-curl', curl());
    element('order-run').addEventListener('click', () => this.#run('ready'));
    element('order-fail').addEventListener('click', () => this.#run('failed'));
    const channel = new Channel(`${origin}/realtime/v1/websocket`, `order:${orderId}`, tapped(wire));
    channel.addEventListener('state', ({ detail }) => this.#line(detail));
    channel.addEventListener('broadcast', ({ detail: { event, payload } }) => this.#heard(event, payload));
    channel.addEventListener('system', ({ detail }) => this.#system(detail));
    guest.follow(() => channel.join(guest.token));
    this.#draw();
  }

  #line({ state, reason }) {
    element('order-line').dataset.state = { joined: 'open', refused: 'waiting' }[state] ?? state;
    say('order-line-text', {
      connecting: 'Connecting', joined: 'Listening', waiting: `Reconnecting: ${reason}`, refused: text(reason, 300),
    }[state]);
  }

  #heard(event, payload) {
    this.#order.take(event, payload);
    if (event === 'download_ready' || event === 'processing_failed') say('order-problem', '');
    const detail = Object.entries(payload).filter(([name]) => name !== 'timestamp' && name !== 'order_id')
      .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ');
    this.#note(text(event, 80), detail, payload.timestamp);
    this.#draw();
  }

  #system({ status, message }) {
    this.#note(status === 'error' ? 'error' : 'system', text(message, 300));
  }

  #note(name, detail, timestamp) {
    const at = new Date(timestamp);
    const told = Number.isNaN(at.getTime()) ? new Date() : at;
    const list = element('order-events');
    list.prepend(make('li', {}, make('strong', {}, name),
      make('time', { datetime: told.toISOString() }, told.toLocaleTimeString([], { hour12: false })),
      make('span', {}, text(detail, 300))));
    while (list.childElementCount > eventsMax) list.lastElementChild.remove();
    element('order-events-empty').hidden = true;
  }

  /** The demo's backend processes an order, and publishes what happens. */
  async #run(outcome) {
    say('order-problem', '');
    try {
      await this.#ask('POST', '/demo/order', { outcome });
    } catch (error) {
      say('order-problem', error.message);
    }
  }

  // Drawing.

  #draw() {
    const order = this.#order;
    const isFailed = order.status === 'failed';
    this.#steps.forEach((step, index) => {
      const isNow = index === order.reached;
      step.className = index < order.reached || (isNow && index === steps.length - 1) ? 'done'
        : isNow ? (isFailed ? 'failed' : 'now') : '';
      if (isNow) step.setAttribute('aria-current', 'step');
      else step.removeAttribute('aria-current');
    });
    element('order-progress').value = order.progress;
    element('order-status').classList.toggle('failed', isFailed);
    say('order-status', order.sentence);
    this.#drawImages(order);
  }

  #drawImages({ images, urls, fileCount, reached, status }) {
    const waiting = Math.max(0, Math.min(fileCount ?? 0, 100) - images.length);
    const isDone = urls.length > 0;
    const absent = status === 'failed' ? 'not done' : 'waiting';
    const rows = isDone ? urls.map(preview) : [
      ...images.map(({ id, isFailed }) => make('li', { class: isFailed ? 'failed' : 'done' },
        make('span', { class: 'name' }, id), make('span', { class: 'state' }, isFailed ? 'failed' : 'done'))),
      ...Array.from({ length: reached < 0 ? 0 : waiting }, () => make('li', {},
        make('span', { class: 'name' }, 'photo'), make('span', { class: 'state' }, absent))),
    ];
    element('order-images').replaceChildren(...rows);
  }
}

/** A preview: a picture where it is ours to load, else where it is to be had. */
function preview(url, index) {
  let address;
  try {
    address = new URL(url, location.href);
  } catch {
    return make('li', {}, make('span', { class: 'name' }, text(url, 100)));
  }
  const name = `Preview ${index + 1}`;
  if (address.origin !== location.origin) {
    return make('li', {}, make('span', { class: 'name' }, `${name}: ${text(address.href, 200)}`));
  }
  const picture = make('img', { src: address.pathname + address.search, alt: name, width: '120', height: '80' });
  picture.style.setProperty('--turn', `${(index * 47) % 360}deg`);
  return make('li', { class: 'done' }, picture);
}

function curl() {
  const payload = { order_id: orderId, status: 'uploading', file_count: 3 };
  const body = JSON.stringify({ messages: [{ topic: `order:${orderId}`, event: 'upload_started', payload }] });
  return [`curl -k ${location.origin}/realtime/v1/api/broadcast`, '  -H "apikey: $(cat .switchboard/api-key)"',
    '  -H "Content-Type: application/json"', `  -d '${body}'`].join(' \\\n');
}
