// A small client of the native protocol: one WebSocket, any number of topics resumed by position after a break, and
// requests that survive one.
//
// It knows nothing of the page. A topic's listener is an object of functions, each of which may be left out:
//   live({recovered, state})           the topic is subscribed; without recovery `state` replaces what was known
//   event(name, data)                  an event arrived, each once, in order
//   gap({reason, missed})              events were missed; `missed` is null when nobody knows how many
//   refused({code, message})           the topic cannot be had
// The client itself tells by events (`detail` in brackets):
//   state      the connection's state changed: connecting, open, draining, waiting   {state, reason, retryMs}
//   identified the server took the token; also after each reconnection               {userId}
//   refused    the server did not take the token; another one is needed              {code, message}
//   trouble    the server reported an error that answers nothing                     {code, message}

export const backOffMinMs = 1_000;
export const backOffMaxMs = 30_000;
const connectTimeoutMs = 10_000;
const pingIntervalMs = 25_000;
const pongTimeoutMs = 10_000;
/** How long a connection may be silent once the browser says that the network is gone. */
const offlineProbeMs = 3_000;
/** A connection this old has proved itself: the next failure starts again with the shortest back-off. */
const stableMs = 10_000;
/** How long a request may take, reconnections included; the server remembers its answer for longer. */
const requestTimeoutMs = 60_000;

/** The delay before reconnection number `attempt` (from 0): random below a doubling ceiling, so herds spread out. */
export function backOffMs(attempt, random = Math.random) {
  const ceiling = Math.min(backOffMaxMs, backOffMinMs * 2 ** Math.min(attempt + 1, 16));
  return Math.round(backOffMinMs + random() * (ceiling - backOffMinMs));
}

/** A random id for an operation: a retry under the same one does nothing twice. */
export function operationId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Why a request failed. */
export class RequestError extends Error {
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

export class Client extends EventTarget {
  #url;
  /** Whether the token is shown when the socket opens, for a path that joins topics then; nothing is sent later. */
  #opensWithToken;
  #socket = null;
  #token = null;
  /** Whether subscriptions and requests may be sent: the server knows who we are. */
  #isReady = false;
  #authenticateRef = null;
  /** Wanted topics: name -> {listener, position: {epoch, offset} | null, attempt, timer, isByPath}. */
  #topics = new Map();
  /** Subscriptions awaiting an answer: ref -> topic. Emptied with each connection. */
  #subscriptions = new Map();
  /** Requests awaiting an answer: ref -> {event, data, resolve, reject, timer}. Sent again on each connection. */
  #requests = new Map();
  #lastRef = 0;
  #attempt = 0;
  #hintMs = null;
  #retryTimer = null;
  #deadline = null;
  #pingTimer = null;
  #openedAt = 0;

  constructor(url, { opensWithToken = false } = {}) {
    super();
    this.#url = url;
    this.#opensWithToken = opensWithToken;
    // A phone that wakes up or finds its network again should not sit out a long back-off.
    addEventListener('online', () => this.#retryNow());
    addEventListener('offline', () => this.#probe(offlineProbeMs));
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#retryNow();
    });
  }

  /** Opens the connection and keeps it open. */
  start() {
    if (this.#socket === null && this.#retryTimer === null) this.#connect();
  }

  /** Closes the connection for good. */
  stop() {
    for (const timer of [this.#retryTimer, this.#deadline, this.#pingTimer]) clearTimeout(timer);
    const socket = this.#socket;
    [this.#socket, this.#retryTimer, this.#isReady] = [null, null, false];
    socket?.close(1000);
  }

  /** Says who the client is, now and on every later connection. */
  identify(token) {
    this.#token = token;
    if (this.#isOpen && !this.#opensWithToken) this.#authenticate();
  }

  /** Wants a topic, now and after every reconnection. */
  subscribe(topic, listener) {
    if (this.#topics.has(topic)) return;
    this.#topics.set(topic, { listener, position: null, attempt: 0, timer: null });
    if (this.#isReady) this.#requestTopic(topic);
  }

  /** Hears a topic that the path of the socket joins: it is not asked for, and what was missed is only told. */
  hear(topic, listener) {
    this.#topics.set(topic, { listener, position: null, attempt: 0, timer: null, isByPath: true });
  }

  /** Wants a topic no longer. */
  unsubscribe(topic) {
    clearTimeout(this.#topics.get(topic)?.timer);
    if (this.#topics.delete(topic) && this.#isReady) this.#leave(topic);
  }

  /** Asks for a topic's state anew: what was missed cannot be put together from events. */
  resynchronise(topic) {
    const wanted = this.#topics.get(topic);
    if (wanted === undefined) return;
    wanted.position = null;
    if (!this.#isReady) return;
    this.#leave(topic);
    this.#requestTopic(topic);
  }

  /** Runs a command; the promise ends with its answer, or with a RequestError. */
  request(event, data) {
    return new Promise((resolve, reject) => {
      const ref = operationId();
      const timer = setTimeout(() => {
        this.#requests.delete(ref);
        reject(new RequestError({ code: 'unavailable', message: 'No answer; try again later.' }));
      }, requestTimeoutMs);
      this.#requests.set(ref, { event, data, resolve, reject, timer });
      if (this.#isReady) this.#send({ event, data, ref });
    });
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
    const socket = new WebSocket(this.#url, this.#opensWithToken ? ['switchboard.v1', `bearer.${this.#token}`] : []);
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
    this.#schedulePing();
    if (this.#token === null || this.#opensWithToken) this.#ready();
    else this.#authenticate();
  }

  #authenticate() {
    this.#authenticateRef = ++this.#lastRef;
    this.#send({ event: 'authenticate', data: { token: this.#token }, ref: this.#authenticateRef });
  }

  /** Sends what was wanted before; `isReady` already means that only the token is new. */
  #ready() {
    if (this.#isReady) return;
    this.#isReady = true;
    for (const topic of this.#topics.keys()) this.#requestTopic(topic);
    for (const [ref, { event, data }] of this.#requests) this.#send({ event, data, ref });
  }

  #closed(code, reason) {
    clearTimeout(this.#deadline);
    clearTimeout(this.#pingTimer);
    this.#socket = null;
    this.#isReady = false;
    this.#authenticateRef = null;
    this.#subscriptions.clear();
    for (const wanted of this.#topics.values()) clearTimeout(wanted.timer);
    if (this.#openedAt > 0 && performance.now() - this.#openedAt >= stableMs) this.#attempt = 0;
    this.#openedAt = 0;
    const retryMs = this.#hintMs ?? backOffMs(this.#attempt);
    this.#hintMs = null;
    this.#attempt += 1;
    const why = navigator.onLine ? describeClose(code, reason) : 'no network';
    this.#tell('state', { state: 'waiting', reason: why, retryMs });
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

  #probe(ms) {
    if (!this.#isOpen) return;
    this.#send({ event: 'ping' });
    this.#expect(ms);
  }

  #schedulePing() {
    clearTimeout(this.#pingTimer);
    this.#pingTimer = setTimeout(() => this.#probe(pongTimeoutMs), pingIntervalMs);
  }

  // The protocol.

  #requestTopic(topic) {
    const { position, isByPath } = this.#topics.get(topic);
    if (isByPath) return;
    const ref = ++this.#lastRef;
    this.#subscriptions.set(ref, topic);
    this.#send({ event: 'subscribe', data: position ? { topic, since: position } : { topic }, ref });
  }

  /** Leaves a topic; an answer still to come to an earlier subscription is not heard any more. */
  #leave(topic) {
    for (const [ref, other] of this.#subscriptions) if (other === topic) this.#subscriptions.delete(ref);
    this.#send({ event: 'unsubscribe', data: { topic }, ref: ++this.#lastRef });
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
      case 'unsubscribed':
        return;
      case 'ack':
        return this.#answered(ref, ({ resolve }) => resolve(data));
      case 'authenticated':
        if (ref !== this.#authenticateRef) return;
        this.#tell('identified', { userId: data.userId });
        return this.#ready();
      case 'subscribed':
        return this.#subscribed(topic ?? data.topic, data, ref);
      case 'gap':
        return this.#gap(topic, data);
      case 'draining':
        this.#hintMs = Number.isFinite(data.reconnectAfterMs) ? Math.max(0, data.reconnectAfterMs) : null;
        return this.#tell('state', { state: 'draining' });
      case 'error':
        return this.#failed(data, ref, topic);
      default:
        return this.#event(topic, event, data, offset);
    }
  }

  #answered(ref, settle) {
    const request = this.#requests.get(ref);
    if (request === undefined) return false;
    this.#requests.delete(ref);
    clearTimeout(request.timer);
    settle(request);
    return true;
  }

  #failed(data, ref, named) {
    if (ref !== undefined && ref === this.#authenticateRef) {
      this.#token = null;
      return this.#tell('refused', data);
    }
    if (this.#answered(ref, ({ reject }) => reject(new RequestError(data)))) return;
    const topic = this.#topics.get(named)?.isByPath ? named : this.#subscriptions.get(ref);
    this.#subscriptions.delete(ref);
    const wanted = this.#topics.get(topic);
    if (wanted === undefined) return this.#tell('trouble', data);
    if (wanted.isByPath) return wanted.listener.refused?.(data);
    if (data.code === 'unavailable' || data.code === 'rate_limited') {
      // A busy server, or one whose store is away: the topic is asked for again.
      wanted.timer = setTimeout(() => this.#isReady && this.#requestTopic(topic), backOffMs(wanted.attempt));
      wanted.attempt += 1;
    } else {
      this.#topics.delete(topic);
    }
    wanted.listener.refused?.(data);
  }

  #subscribed(topic, data, ref) {
    const wanted = this.#topics.get(topic);
    if (wanted === undefined || (!wanted.isByPath && this.#subscriptions.get(ref) !== topic)) return;
    this.#subscriptions.delete(ref);
    const before = wanted.position;
    const now = { epoch: data.epoch, offset: data.offset };
    const recovered = data.recovered === true && before !== null;
    // After a recovery the missed events follow, so the position stays where it was and moves with them.
    if (!recovered) wanted.position = now;
    wanted.attempt = 0;
    if (before && !recovered) {
      const missed = before.epoch === now.epoch ? now.offset - before.offset : null;
      if (missed !== 0) wanted.listener.gap?.({ reason: 'the log no longer reaches back that far', missed });
    }
    wanted.listener.live?.({ recovered, state: data.state });
  }

  #gap(topic, data) {
    const wanted = this.#topics.get(topic);
    if (wanted === undefined) return;
    const before = wanted.position;
    const isSameLog = before !== null && before.epoch === data.epoch && data.offset !== undefined;
    wanted.listener.gap?.({
      reason: gapReasons.get(data.reason) ?? data.reason, missed: isSameLog ? data.offset - before.offset : null,
    });
    if (wanted.isByPath) wanted.position = { epoch: data.epoch, offset: data.offset };
    else this.resynchronise(topic);
  }

  #event(topic, name, data, offset) {
    const wanted = this.#topics.get(topic);
    if (wanted === undefined) return;
    // Plain publishes have no offset: they are shown, and cannot be recovered.
    if (offset !== undefined && wanted.position !== null) {
      const expected = wanted.position.offset + 1;
      if (offset < expected) return;
      if (offset > expected) {
        wanted.listener.gap?.({ reason: 'offsets jumped', missed: offset - expected });
        if (!wanted.isByPath) return this.resynchronise(topic);
      }
      wanted.position = { epoch: wanted.position.epoch, offset };
    }
    wanted.listener.event?.(name, data);
  }
}

const gapReasons = new Map([
  ['conflated', 'newer ones took their place, since this client read too slowly'],
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
