// The page at `/`: subscribes to the demo topics and shows what happens. The protocol itself is in client.js.
import { Client } from '/client.js';

const demoTopics = ['shop:demo', 'dj:demo', 'challenge:demo'];
/** Rows kept in the list, and events kept while it is paused or the tab is hidden. */
const rowsMax = 200;
/** Least time between two announcements, so that a screen reader is not talked over. */
const announceEveryMs = 5_000;
const topicPattern = /^[a-z][a-z0-9-]{0,31}:[A-Za-z0-9._~:-]{1,200}$/;

const element = (id) => document.getElementById(id);

/** Makes an element of text and elements; text is never read as markup. */
function make(tag, attributes, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
const client = new Client(`${scheme}//${location.host}/ws`);

// Connection.

let countdown = null;

client.addEventListener('state', ({ detail: { state, reason, retryMs } }) => {
  clearInterval(countdown);
  element('connection').dataset.state = state;
  const say = (text) => { element('connection-text').textContent = text; };
  switch (state) {
    case 'connecting': return say('Connecting');
    case 'open': return say('Connected');
    case 'draining': return say('Connected; this server is about to restart');
    case 'waiting': {
      const due = performance.now() + retryMs;
      const seconds = () => Math.max(0, Math.ceil((due - performance.now()) / 1000));
      say(`Disconnected (${reason}); trying again in ${seconds()} s`);
      for (const status of document.querySelectorAll('#topics .status')) status.textContent = 'waiting';
    }
  }
});

client.addEventListener('trouble', ({ detail: { code, message } }) => {
  enqueue({ kind: 'gap', topic: '', event: `error: ${code}`, text: message });
});

// Topics.

const topicRows = new Map();

function addTopic(topic) {
  if (topicRows.has(topic)) return;
  const status = make('span', { class: 'status muted' }, 'waiting');
  const remove = make('button', { type: 'button', 'aria-label': `Unsubscribe from ${topic}` }, 'Remove');
  const row = make('li', {}, make('span', { class: 'topic' }, topic), status, remove);
  remove.addEventListener('click', () => {
    client.unsubscribe(topic);
    removeTopic(topic);
    element('topic').focus();
  });
  topicRows.set(topic, { row, status });
  element('topics').append(row);
  client.subscribe(topic);
}

function removeTopic(topic) {
  topicRows.get(topic)?.row.remove();
  topicRows.delete(topic);
}

function setStatus(topic, text) {
  const row = topicRows.get(topic);
  if (row !== undefined) row.status.textContent = text;
}

client.addEventListener('subscribed', ({ detail: { topic, position, recovered, state } }) => {
  setStatus(topic, `${recovered ? 'live again' : 'live'} from ${position.epoch}:${position.offset}`);
  showQueue(topic, state);
});

client.addEventListener('refused', ({ detail: { topic, code, message } }) => {
  if (code === 'unavailable' || code === 'rate_limited') return setStatus(topic, message);
  removeTopic(topic);
  element('topic-error').textContent = `${topic}: ${message} (${code})`;
});

element('subscribe').addEventListener('submit', (event) => {
  event.preventDefault();
  const input = element('topic');
  const topic = input.value.trim();
  const isValid = topicPattern.test(topic);
  input.setAttribute('aria-invalid', String(!isValid));
  element('topic-error').textContent = isValid
    ? ''
    : 'A topic is a lower-case namespace, a colon and an id of letters, digits and . _ ~ : -';
  if (!isValid) return;
  addTopic(topic);
  input.value = '';
});

// Queue status.

const minutes = (value) => (Number.isFinite(value) ? [value, make('span', { class: 'unit' }, ' min')] : ['-']);
/** blackCard -> Black card */
const spaced = (name) => {
  const words = name.replace(/([A-Z])/g, ' $1').trim().toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Shows a shop's queue when this is one: a music queue's update of the same name has no length. */
function showQueue(topic, data) {
  if (!Number.isFinite(data?.queueLength)) return;
  element('queue-topic').textContent = topic;
  element('queue-length').textContent = data.queueLength;
  element('queue-average').replaceChildren(...minutes(data.avgWaitTime));
  element('queue-serving').textContent = data.currentlyServing ?? '-';
  const estimates = Object.entries(data.estimatedWaitTimes ?? {});
  element('queue-estimates').replaceChildren(
    ...estimates.map(([kind, value]) =>
      make('div', {}, make('dt', {}, `${spaced(kind)} wait`), make('dd', {}, ...minutes(value)))),
  );
  element('queue-estimates').hidden = estimates.length === 0;
  element('queue').hidden = false;
  element('queue-empty').hidden = true;
}

// Events. Arrivals are collected and drawn once per frame, however many there are.

let pending = [];
let missedWhilePaused = 0;
let isPaused = false;
let isDrawScheduled = false;
let total = 0;
let announcedTotal = 0;
let announcedAt = -announceEveryMs;

client.addEventListener('message', ({ detail: { topic, event, data, offset } }) => {
  total += 1;
  if (event === 'queue:update') showQueue(topic, data);
  enqueue({ kind: 'event', topic, event, offset, text: JSON.stringify(data, null, 2) });
});

client.addEventListener('gap', ({ detail: { topic, reason, missed } }) => {
  const count = missed === null ? 'Some events' : `${missed} ${missed === 1 ? 'event' : 'events'}`;
  enqueue({ kind: 'gap', topic, event: 'gap', text: `${count} missed: ${reason ?? 'no reason given'}` });
});

function enqueue(entry) {
  pending.push({ ...entry, at: new Date() });
  if (pending.length > rowsMax) pending = pending.slice(-rowsMax);
  if (isPaused) missedWhilePaused += 1;
  scheduleDraw();
}

function scheduleDraw() {
  if (isDrawScheduled) return;
  isDrawScheduled = true;
  requestAnimationFrame(draw);
}

function draw() {
  isDrawScheduled = false;
  element('event-count').textContent = total;
  if (isPaused) {
    element('paused').textContent = `Paused; ${missedWhilePaused} new since.`;
    return;
  }
  if (pending.length === 0) return;
  const list = element('events');
  list.prepend(...pending.reverse().map(makeRow));
  while (list.childElementCount > rowsMax) list.lastElementChild.remove();
  // Data too long for its box can be scrolled from the keyboard, too.
  for (const box of list.querySelectorAll('pre:not([tabindex])')) {
    if (box.scrollHeight <= box.clientHeight) continue;
    box.tabIndex = 0;
    box.setAttribute('aria-label', 'Data of the event');
    box.setAttribute('role', 'region');
  }
  element('events-empty').hidden = true;
  announce(pending[0]);
  pending = [];
}

function makeRow({ kind, topic, event, offset, text, at }) {
  const clock = at.toLocaleTimeString([], { hour12: false }) + '.' + String(at.getMilliseconds()).padStart(3, '0');
  return make('li', { class: kind },
    make('p', { class: 'what' },
      make('span', { class: 'name' }, event),
      make('span', { class: 'topic' }, topic),
      make('span', { class: 'muted' }, offset === undefined ? '' : `#${offset}`),
      make('time', { class: 'muted', datetime: at.toISOString() }, clock)),
    kind === 'event' ? make('pre', {}, text) : make('p', {}, text));
}

function announce(latest) {
  const now = performance.now();
  if (now - announcedAt < announceEveryMs) return;
  announcedAt = now;
  const count = total - announcedTotal;
  announcedTotal = total;
  element('announcement').textContent =
    latest.kind === 'gap' ? latest.text : `${count} new, latest ${latest.event} on ${latest.topic}`;
}

element('pause').addEventListener('click', () => {
  isPaused = !isPaused;
  missedWhilePaused = 0;
  element('pause').setAttribute('aria-pressed', String(isPaused));
  element('paused').hidden = !isPaused;
  element('paused').textContent = isPaused ? 'Paused; 0 new since.' : '';
  scheduleDraw();
});

element('clear').addEventListener('click', () => {
  element('events').replaceChildren();
  pending = [];
  missedWhilePaused = 0;
  scheduleDraw();
});

for (const topic of demoTopics) addTopic(topic);
client.start();
