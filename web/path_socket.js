// A socket whose path joins a topic, as an app opens it: the token is shown when it opens, and nothing is asked for.
//
// It has no memory: what was missed over a break is not fetched, and `live` tells that something may be missing. The
// listener is an object of functions:
//   state({state, reason})     connecting, open or waiting
//   live(), gap()              events may be missing from before now
//   event(name, data)          an event arrived
//   refused({code, message})   the topic cannot be had
import { reasonOf } from '/connection.js';
import { backOffMs } from '/switchboard.js';

/** Between two questions whether the server is there. */
const pingMs = 25_000;
/** A connection this old has proved itself: the next failure begins with the shortest pause. */
const stableMs = 10_000;
const hintMsMax = 60_000;

export class PathSocket {
  #url;
  #token;
  #topic;
  #listener;
  #Socket;
  #socket = null;
  #openedAt = null;
  #attempt = 0;
  #hintMs = null;
  /** The offset of the last event; null before the topic is joined. */
  #offset = null;
  #retryTimer = null;
  #pingTimer = null;
  #isAnswered = true;
  #ending = new AbortController();

  constructor(url, token, topic, listener, Socket = WebSocket) {
    [this.#url, this.#token, this.#topic, this.#listener, this.#Socket] = [url, token, topic, listener, Socket];
    addEventListener('online', () => this.#retryNow(), { signal: this.#ending.signal });
    this.#connect();
  }

  /** Closes the socket for good. */
  close() {
    this.#ending.abort();
    clearTimeout(this.#retryTimer);
    clearInterval(this.#pingTimer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
  }

  #connect() {
    this.#retryTimer = null;
    this.#listener.state({ state: 'connecting' });
    const socket = new this.#Socket(this.#url, ['switchboard.v1', `bearer.${this.#token}`]);
    this.#socket = socket;
    // A socket that was given up may still speak.
    const mine = (handler) => (event) => {
      if (this.#socket === socket) handler(event);
    };
    socket.addEventListener('open', mine(() => this.#opened()));
    socket.addEventListener('message', mine(({ data }) => this.#received(data)));
    socket.addEventListener('close', mine(({ code, reason }) => this.#ended(code, reason)));
  }

  #opened() {
    this.#openedAt = performance.now();
    this.#listener.state({ state: 'open' });
    this.#isAnswered = true;
    this.#pingTimer = setInterval(() => this.#ping(), pingMs);
  }

  #ping() {
    if (!this.#isAnswered) return this.#ended(0, '');
    this.#isAnswered = false;
    this.#socket.send('{"event":"ping"}');
  }

  #ended(code, reason) {
    clearInterval(this.#pingTimer);
    const socket = this.#socket;
    [this.#socket, this.#offset] = [null, null];
    socket.close();
    if (this.#openedAt !== null && performance.now() - this.#openedAt >= stableMs) this.#attempt = 0;
    this.#openedAt = null;
    const pauseMs = this.#hintMs ?? backOffMs(this.#attempt);
    this.#hintMs = null;
    this.#attempt += 1;
    this.#listener.state({ state: 'waiting', reason: reasonOf(code, reason) });
    this.#retryTimer = setTimeout(() => this.#connect(), pauseMs);
  }

  #retryNow() {
    if (this.#retryTimer === null) return;
    clearTimeout(this.#retryTimer);
    this.#connect();
  }

  #received(words) {
    this.#isAnswered = true;
    let message;
    try {
      message = JSON.parse(words);
    } catch {
      return;
    }
    const { event, topic, offset, data } = message ?? {};
    if (event === 'draining') {
      const hint = data?.reconnectAfterMs;
      this.#hintMs = Number.isFinite(hint) ? Math.min(Math.max(0, hint), hintMsMax) : null;
    } else if (topic === this.#topic) {
      this.#told(event, data ?? {}, offset);
    }
  }

  #told(event, data, offset) {
    switch (event) {
      case 'subscribed':
        this.#offset = data.offset;
        return this.#listener.live();
      case 'gap':
        this.#offset = data.offset ?? this.#offset;
        return this.#listener.gap();
      case 'error': return this.#listener.refused(data);
      default: return this.#heard(event, data, offset);
    }
  }

  #heard(event, data, offset) {
    if (offset !== undefined && this.#offset !== null) {
      if (offset <= this.#offset) return;
      if (offset > this.#offset + 1) this.#listener.gap();
      this.#offset = offset;
    }
    this.#listener.event(event, data);
  }
}
