// A small client of the native protocol: one WebSocket, any number of topics, resumed by position after a break.
//
// It knows nothing of the page. It tells what happens by these events (`detail` in brackets):
//   state       the connection's state changed         {state, reason, retryMs}
//   subscribed  a topic is live                        {topic, position, recovered, state}
//   refused     a topic could not be subscribed        {topic, code, message}
//   message     an event arrived, each once, in order  {topic, event, data, offset}
//   gap         events of a topic were missed          {topic, reason, missed}
//   trouble     the server reported any other error    {code, message}

export const backOffMinMs = 1_000;
export const backOffMaxMs = 30_000;
const connectTimeoutMs = 10_000;
const pingIntervalMs = 25_000;
const pongTimeoutMs = 10_000;
/** A connection this old has proved itself: the next failure starts again with the shortest back-off. */
const stableMs = 10_000;

/** The delay before reconnection number `attempt` (from 0): random below a doubling ceiling, so herds spread out. */
export function backOffMs(attempt, random = Math.random) {
  const ceiling = Math.min(backOffMaxMs, backOffMinMs * 2 ** Math.min(attempt + 1, 16));
  return Math.round(backOffMinMs + random() * (ceiling - backOffMinMs));
}

export class Client extends EventTarget {
  #url;
  #socket = null;
  /** Wanted topics: name -> {position: {epoch, offset} | null, isLost}. */
  #topics = new Map();
  /** Requests awaiting an answer: ref -> topic. Emptied with each connection. */
  #requests = new Map();
  #lastRef = 0;
  #attempt = 0;
  #hintMs = null;
  #retryTimer = null;
  #deadline = null;
  #pingTimer = null;
  #openedAt = 0;

  constructor(url) {
    super();
    this.#url = url;
    // A phone that wakes up or finds its network again should not sit out a long back-off.
    addEventListener('online', () => this.#retryNow());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#retryNow();
    });
  }

  /** Opens the connection and keeps it open. */
  start() {
    if (this.#socket === null && this.#retryTimer === null) this.#connect();
  }

  /** Wants a topic, now and after every reconnection. */
  subscribe(topic) {
    if (this.#topics.has(topic)) return;
    this.#topics.set(topic, { position: null, isLost: false });
    if (this.#isOpen) this.#requestTopic(topic);
  }

  /** Wants a topic no longer. */
  unsubscribe(topic) {
    if (!this.#topics.delete(topic)) return;
    if (this.#isOpen) this.#send({ event: 'unsubscribe', data: { topic }, ref: ++this.#lastRef });
  }

  get #isOpen() {
    return this.#socket !== null && this.#socket.readyState === WebSocket.OPEN;
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #send(message) {
    if (this.#isOpen) this.#socket.send(JSON.stringify(message));
  }

  // The connection.

  #connect() {
    this.#retryTimer = null;
    this.#tell('state', { state: 'connecting' });
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    // A replaced socket may still speak; only the current one is heard.
    const mine = (handler) => (event) => {
      if (this.#socket === socket) handler(event);
    };
    socket.addEventListener('open', mine(() => this.#opened()));
    socket.addEventListener('message', mine((event) => this.#received(event.data)));
    socket.addEventListener('close', mine((event) => this.#closed(event.code, event.reason)));
    this.#expect(connectTimeoutMs);
  }

  #opened() {
    clearTimeout(this.#deadline);
    this.#openedAt = performance.now();
    this.#tell('state', { state: 'open' });
    for (const topic of this.#topics.keys()) this.#requestTopic(topic);
    this.#schedulePing();
  }

  #closed(code, reason) {
    clearTimeout(this.#deadline);
    clearTimeout(this.#pingTimer);
    this.#socket = null;
    this.#requests.clear();
    if (this.#openedAt > 0 && performance.now() - this.#openedAt >= stableMs) this.#attempt = 0;
    this.#openedAt = 0;
    const retryMs = this.#hintMs ?? backOffMs(this.#attempt);
    this.#hintMs = null;
    this.#attempt += 1;
    this.#tell('state', { state: 'waiting', reason: describeClose(code, reason), retryMs });
    this.#retryTimer = setTimeout(() => this.#connect(), retryMs);
  }

  #retryNow() {
    if (this.#retryTimer === null) return;
    clearTimeout(this.#retryTimer);
    this.#connect();
  }

  /** Gives the server this long to be heard; a network that vanished would otherwise go unnoticed for minutes. */
  #expect(ms) {
    clearTimeout(this.#deadline);
    const socket = this.#socket;
    this.#deadline = setTimeout(() => {
      if (this.#socket !== socket) return;
      this.#closed(0, 'no answer');
      socket.close();
    }, ms);
  }

  #schedulePing() {
    clearTimeout(this.#pingTimer);
    this.#pingTimer = setTimeout(() => {
      this.#send({ event: 'ping' });
      this.#expect(pongTimeoutMs);
    }, pingIntervalMs);
  }

  // The protocol.

  #requestTopic(topic) {
    const ref = ++this.#lastRef;
    const { position } = this.#topics.get(topic);
    this.#requests.set(ref, topic);
    this.#send({ event: 'subscribe', data: position ? { topic, since: position } : { topic }, ref });
  }

  #received(text) {
    clearTimeout(this.#deadline);
    this.#schedulePing();
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      this.#tell('trouble', { code: 'bad_json', message: 'The server sent something that is not JSON.' });
      return;
    }
    const { event, topic, ref, offset, data = {} } = message;
    switch (event) {
      case 'pong':
      case 'ack':
      case 'unsubscribed':
        return;
      case 'subscribed':
        return this.#subscribed(topic ?? data.topic, data, ref);
      case 'gap':
        return this.#gap(topic, data);
      case 'draining':
        this.#hintMs = Number.isFinite(data.reconnectAfterMs) ? Math.max(0, data.reconnectAfterMs) : null;
        return this.#tell('state', { state: 'draining' });
      case 'error':
        return this.#refused(data, ref);
      default:
        return this.#event(topic, event, data, offset);
    }
  }

  #subscribed(topic, data, ref) {
    this.#requests.delete(ref);
    const wanted = this.#topics.get(topic);
    if (wanted === undefined) return;
    const before = wanted.position;
    const now = { epoch: data.epoch, offset: data.offset };
    // After a recovery the missed events follow, so the position stays where it was and moves with them.
    if (!(data.recovered && before)) wanted.position = now;
    wanted.isLost = false;
    this.#tell('subscribed', { topic, position: now, recovered: data.recovered === true, state: data.state });
    if (before && !data.recovered) {
      const missed = before.epoch === now.epoch ? now.offset - before.offset : null;
      if (missed !== 0) this.#tell('gap', { topic, reason: 'the log no longer reaches back that far', missed });
    }
  }

  #gap(topic, data) {
    const wanted = this.#topics.get(topic);
    if (wanted === undefined) return;
    const before = wanted.position;
    const isPlaced = data.epoch !== undefined && data.offset !== undefined;
    const missed = isPlaced && before?.epoch === data.epoch ? data.offset - before.offset : null;
    if (isPlaced) {
      wanted.position = { epoch: data.epoch, offset: data.offset };
    } else {
      // Where the log stands is not known, so the next event's offset says where this topic goes on.
      wanted.isLost = true;
    }
    this.#tell('gap', { topic, reason: gapReasons.get(data.reason) ?? data.reason, missed });
  }

  #refused(data, ref) {
    const topic = this.#requests.get(ref);
    this.#requests.delete(ref);
    if (topic === undefined) return this.#tell('trouble', data);
    // A busy server is asked again with the next connection; any other refusal is final.
    if (data.code !== 'unavailable' && data.code !== 'rate_limited') this.#topics.delete(topic);
    this.#tell('refused', { topic, code: data.code, message: data.message });
  }

  #event(topic, event, data, offset) {
    const wanted = this.#topics.get(topic);
    if (wanted === undefined) return;
    // Plain publishes have no offset: they are shown, and cannot be recovered.
    if (offset !== undefined && wanted.position !== null) {
      const expected = wanted.position.offset + 1;
      if (offset < expected && !wanted.isLost) return;
      if (offset > expected && !wanted.isLost) {
        this.#tell('gap', { topic, reason: 'offsets jumped', missed: offset - expected });
      }
      wanted.position = { epoch: wanted.position.epoch, offset };
      wanted.isLost = false;
    }
    this.#tell('message', { topic, event, data, offset });
  }
}

const gapReasons = new Map([
  ['slow', 'this client read too slowly'],
  ['missed', 'the gateway lost sight of them'],
  ['reset', 'the log began anew'],
]);

const closeReasons = new Map([
  [0, 'no answer'],
  [1000, 'closed'],
  [1001, 'the server went away'],
  [1006, 'the connection broke'],
  [1012, 'the server restarts'],
  [1013, 'the server is busy'],
  [4401, 'not authorised'],
  [4403, 'not allowed'],
  [4408, 'timed out'],
  [4410, 'read too slowly'],
  [4429, 'too many messages'],
]);

function describeClose(code, reason) {
  return reason || closeReasons.get(code) || `closed with code ${code}`;
}
