// A small client of one Realtime channel, as Supabase's clients speak it: arrays in text frames (`vsn=2.0.0`).
//
// It hears broadcasts only, tells its position when it comes back, and is told what it missed. Its events (`detail` in
// brackets):
//   state      connecting, joined, waiting or refused     {state, reason}
//   broadcast  an event of the topic                      {event, payload}
//   system     a word of the server about the channel     {status, message}

/** Delays before each try to come back, as the apps' clients have them; the last one holds for all later tries. */
export const rejoinMs = [1_000, 2_000, 5_000, 10_000];
const heartbeatMs = 30_000;
/** How far back a window that is opened later still hears. */
const replayMs = 3_600_000;

export class Channel extends EventTarget {
  #url;
  #Socket;
  #topic;
  #token = null;
  #socket = null;
  #lastRef = 0;
  #joinRef = null;
  /** The position of the last broadcast, null before the first. */
  #position = null;
  #attempt = 0;
  #retryTimer = null;
  #heartbeatTimer = null;
  /** The heartbeat that has no answer yet. */
  #heartbeatRef = null;

  constructor(url, topic, Socket = WebSocket) {
    super();
    [this.#url, this.#Socket] = [url, Socket];
    this.#topic = `realtime:${topic}`;
    addEventListener('online', () => this.#retryNow());
  }

  /** Joins, and comes back after each break; another token counts from the next connection on. */
  join(token) {
    if (this.#token === token) return;
    const isFirst = this.#token === null;
    this.#token = token;
    if (isFirst) this.#connect();
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #send(joinRef, topic, event, payload) {
    this.#lastRef += 1;
    const ref = String(this.#lastRef);
    this.#socket.send(JSON.stringify([joinRef, ref, topic, event, payload]));
    return ref;
  }

  // The connection.

  #connect() {
    this.#retryTimer = null;
    this.#tell('state', { state: 'connecting' });
    const query = new URLSearchParams({ apikey: this.#token, vsn: '2.0.0' });
    const socket = new this.#Socket(`${this.#url}?${query}`);
    this.#socket = socket;
    const mine = (handler) => (event) => {
      if (this.#socket === socket) handler(event);
    };
    socket.addEventListener('open', mine(() => this.#opened()));
    socket.addEventListener('message', mine(({ data }) => this.#received(data)));
    socket.addEventListener('close', mine(({ reason }) => this.#ended(reason || 'the connection broke')));
  }

  #opened() {
    // A channel that was heard before goes on from where it was; a new one hears the last hour.
    const past = this.#position === null
      ? { replay: { since: Date.now() - replayMs, limit: 25 } } : { since: this.#position };
    this.#joinRef = String(this.#lastRef + 1);
    this.#send(this.#joinRef, this.#topic, 'phx_join', {
      config: { broadcast: { self: false, ack: false, ...past }, presence: { key: '' }, private: false },
      access_token: this.#token,
    });
    this.#heartbeatRef = null;
    this.#heartbeatTimer = setInterval(() => this.#beat(), heartbeatMs);
  }

  #beat() {
    if (this.#heartbeatRef !== null) return this.#ended('no answer');
    this.#heartbeatRef = this.#send(null, 'phoenix', 'heartbeat', {});
  }

  /** The channel is over for now; it is joined again after a while. */
  #ended(reason, state = 'waiting') {
    clearInterval(this.#heartbeatTimer);
    const socket = this.#socket;
    this.#socket = null;
    this.#joinRef = null;
    socket?.close();
    const delayMs = rejoinMs[Math.min(this.#attempt, rejoinMs.length - 1)];
    this.#attempt += 1;
    this.#tell('state', { state, reason });
    this.#retryTimer = setTimeout(() => this.#connect(), delayMs);
  }

  #retryNow() {
    if (this.#retryTimer === null) return;
    clearTimeout(this.#retryTimer);
    this.#connect();
  }

  // The protocol.

  #received(text) {
    let frame;
    try {
      frame = JSON.parse(text);
    } catch {
      return;
    }
    const [joinRef, ref, topic, event, payload] = Array.isArray(frame) ? frame : [];
    if (topic === 'phoenix' && ref === this.#heartbeatRef) this.#heartbeatRef = null;
    if (topic !== this.#topic || (joinRef !== null && joinRef !== this.#joinRef)) return;
    switch (event) {
      case 'phx_reply': return ref === this.#joinRef && this.#joined(payload);
      case 'broadcast': return this.#broadcast(payload);
      case 'phx_close':
      case 'phx_error': return this.#ended('the channel ended');
      case 'system': return this.#tell('system', { status: payload?.status, message: payload?.message });
    }
  }

  #joined({ status, response }) {
    if (status !== 'ok') return this.#ended(String(response?.reason ?? 'not allowed'), 'refused');
    this.#attempt = 0;
    this.#tell('state', { state: 'joined' });
  }

  #broadcast({ event, payload, meta }) {
    if (typeof meta?.epoch === 'string' && Number.isInteger(meta.offset)) {
      const isKnown = this.#position?.epoch === meta.epoch && meta.offset <= this.#position.offset;
      if (isKnown) return;
      this.#position = { epoch: meta.epoch, offset: meta.offset };
    }
    this.#tell('broadcast', { event, payload: payload ?? {} });
  }
}
