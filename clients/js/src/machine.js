// All that a client decides, without a socket, a timer or a clock: an input and the time in, actions out.
// `machine.take({ type: 'text', gen, text }, nowMs, wallMs)` returns them, to be done in order. `nowMs` grows steadily,
// `wallMs` is the date; at `machine.wakeAt` the machine wants to be called again (`tick`).
// The README lists the actions.

import { Calls } from './calls.js';
import { SwitchboardError, Timers, backOffMs, bounded, errorOf, messageOf } from './parts.js';
import { answerMs, drainMsMax, faultPauseMs, faults, hastyMs, messageMax, onlineMs, probeMs } from './parts.js';
import { silenceMs, slowPauseMs, stableMs } from './parts.js';
import { reason, reasonOf } from './reasons.js';
import { Tokens, askMs } from './tokens.js';
import { Topics } from './topics.js';

export class Machine {
  wakeAt = Infinity;
  now = 0;
  wall = 0;
  /** `''` without a token, null while nobody knows. */
  user = null;
  isReady = false;
  #phase = 'stopped';
  #tokens = new Tokens();
  /** The socket that the next token is for; an older one's request is answered to the next connection. */
  #tokenGen = null;
  #refusals = 0;
  #gen = 0;
  #hasSocket = false;
  #authRef = null;
  #readyAt = null;
  #attempt = 0;
  #lastClose = null;
  /** Why there is no connection; null while there is one, and when nobody wants one. */
  #reason = null;
  #dialledAt = -Infinity;
  #refs = 0;
  #told = '';
  #actions = [];
  #timers = new Timers();

  constructor({ random = Math.random } = {}) {
    this.random = random;
    this.topics = new Topics(this);
    this.calls = new Calls(this);
  }

  take(input, now, wall) {
    const actions = this.#actions = [];
    this.now = Math.max(this.now, now);
    this.wall = wall;
    // What came in time was heard in time, however late the timers are.
    if (input.type === 'text' && this.#isMine(input)) this.#heard();
    this.#runDue();
    this.#handle(input);
    if (this.#phase === 'idle' && this.#isWanted) this.#dial();
    const { isStopped } = this;
    if (!isStopped) this.topics.pump();
    this.calls.pump();  // a call has its time, also when nobody starts the client
    const { status } = this;
    const told = JSON.stringify({ ...status, retryInMs: 0, pendingCalls: 0 });
    if (told !== this.#told) this.say({ do: 'status', status });
    this.#told = told;
    this.wakeAt = isStopped ? this.calls.wakeAt
      : Math.min(this.topics.wakeAt, this.calls.wakeAt, this.#timers.wakeAt);
    return actions;
  }

  get status() {
    const at = this.#timers.get('dial');
    return { phase: this.#phase, isReady: this.isReady, attempt: this.#attempt, lastClose: this.#lastClose,
      reason: this.#reason, retryInMs: at === undefined ? null : Math.max(0, at - this.now), userId: this.user || null,
      pendingCalls: this.calls.count };
  }

  // For the parts.

  get isStopped() {
    return this.#phase === 'stopped';
  }

  say(action) {
    this.#actions.push(action);
  }

  send(message) {
    this.sendText(JSON.stringify(message));
  }

  sendText(text) {
    this.say({ do: 'send', gen: this.#gen, text });
  }

  nextRef() {
    return ++this.#refs;
  }

  // Inputs.

  #handle(input) {
    switch (input.type) {
      case 'start': return this.#start();
      case 'stop': return this.#stop();
      case 'setToken': return this.#setToken(input);
      case 'token': return this.#gotToken(input);
      case 'opened': return this.#isMine(input) && this.#phase === 'connecting' && this.#opened();
      case 'text': return this.#isMine(input) && this.#text(input.text);
      case 'closed': return this.#isMine(input) && this.#closed(input);
      case 'join': return this.topics.join(input.reader, input.topic, input);
      case 'leave': return this.topics.leave(input.reader);
      case 'resynchronise': return this.topics.resynchronise(input.topic);
      case 'track': return this.topics.track(input.topic, input.meta);
      case 'call': return this.calls.add(input);
      case 'cancel': return this.calls.cancel(input.as);
      case 'remove': return this.calls.remove(input.id);
      case 'loaded': return this.calls.load(input.entries);
      case 'kept': return this.calls.kept(input.id, input);
      case 'marked': return this.calls.marked(input.id, input);
      case 'offline': return this.#probe(probeMs);
      case 'online': return this.#hurry(onlineMs);
      case 'visible': return this.#hurry(0);
      case 'hide': return this.#phase !== 'stopped' && this.#phase !== 'unauthorized' && this.#end('suspended');
      default: return undefined;  // tick: what was due is done
    }
  }

  get #isWanted() {
    return this.topics.count + this.calls.count > 0;
  }

  #isMine({ gen }) {
    return this.#hasSocket && gen === this.#gen;
  }

  #start() {
    if (this.#phase !== 'stopped' && this.#phase !== 'suspended') return;
    this.#attempt = this.#refusals = 0;
    this.#dial();
  }

  #stop() {
    if (this.#phase === 'stopped') return;
    this.topics.stop(new SwitchboardError('stopped'));
    this.calls.stop();
    this.#end('stopped');
  }

  #end(phase) {
    this.#hangUp();
    this.#timers = new Timers();
    this.#tokens.asking = null;
    this.#phase = phase;
    if (phase !== 'unauthorized') this.#reason = null;
  }

  #hangUp() {
    if (this.#hasSocket) this.say({ do: 'close', gen: this.#gen, code: 1000 });
    this.#forgetSocket(false);
  }

  /** Other credentials; the same user's take effect on the connection that is there. */
  #setToken({ kind, token = null }) {
    const tokens = this.#tokens;
    const isFirst = tokens.kind === 'none' && this.user === null;
    tokens.set(kind, token, this.now);
    this.#refusals = 0;
    if (this.isReady && kind === 'fixed' && this.user !== '' && tokens.current.user === this.user) {
      return this.#authenticate();
    }
    if (!isFirst) this.calls.disown();
    if (this.#phase === 'stopped' || this.#phase === 'suspended') return;
    this.#hangUp();
    this.#dial();
  }

  // The connection.

  #dial() {
    this.#timers.delete('dial', 'drain', 'renew');
    this.#dialledAt = this.now;
    this.#phase = 'connecting';
    if (this.#tokens.isEnough(this.now)) this.#open();
    else this.#ask();
  }

  #open() {
    this.#gen += 1;
    this.#hasSocket = true;
    this.#timers.set('connect', this.now + answerMs);
    this.say({ do: 'open', gen: this.#gen });
  }

  #ask() {
    const request = this.#tokens.ask();
    if (request === null) return;
    this.#timers.set('ask', this.now + askMs);
    this.say(request);
  }

  #gotToken({ id, token }) {
    if (id !== this.#tokens.asking || id === null) return;
    this.#timers.delete('ask');
    const isWaiting = this.#phase === 'connecting' && !this.#hasSocket;
    if (!this.#tokens.got(token, this.now)) {
      // A source that fails is no logout: it may be offline, as we are.
      if (isWaiting) {
        this.#reason = reason('token_source', 'The source of tokens failed, or gave none.');
        this.#pause(this.#backOff());
      } else if (this.isReady) this.#timers.set('renew', this.now + this.#backOff());
    } else if (isWaiting) {
      this.#open();
    } else if (this.isReady && this.#tokenGen === this.#gen) {
      this.#authenticate();
    }
  }

  #opened() {
    this.#timers.delete('connect');
    this.#heard();
    if (this.#tokens.current === null) return this.#ready('');
    this.#phase = 'authenticating';
    this.#authenticate();
  }

  #authenticate() {
    this.#authRef = this.nextRef();
    this.#tokens.current.isUnused = false;
    this.#timers.set('authenticate', this.now + answerMs);
    this.send({ event: 'authenticate', data: { token: this.#tokens.current.text }, ref: this.#authRef });
  }

  #authenticated(ref, { userId }) {
    if (this.#authRef === null || ref !== this.#authRef) return;
    this.#authRef = null;
    this.#timers.delete('authenticate');
    if (!this.isReady) this.#ready(typeof userId === 'string' ? userId : '');
  }

  #ready(user) {
    if (this.user !== null && this.user !== user) this.topics.forget();
    this.user = user;
    this.isReady = true;
    this.#reason = null;
    this.#phase = 'open';
    this.#readyAt = this.now;
    this.topics.ready();
    this.calls.ready();
  }

  /** The gateway did not take the token: a source is asked for another one, once. */
  #refused() {
    this.#tokens.isRefused = true;
    this.#refusals += 1;
    if (this.#tokens.kind !== 'source' || this.#refusals > 1) return this.#end('unauthorized');
    this.#reason = null;  // not yet
    this.#dial();
  }

  #closed(end) {
    const { code, reason: text = '', httpStatus = null } = end;
    if (this.#readyAt !== null && this.now - this.#readyAt >= stableMs) this.#attempt = this.#refusals = 0;
    this.#lastClose = { code, reason: text, httpStatus };
    const leaveAt = this.#timers.get('drain');
    this.#reason = leaveAt === undefined ? reasonOf(end, this.isReady) : null;
    const isFault = faults.has(code);
    this.#forgetSocket(isFault);
    // The gateway ends a connection on which nothing is wanted and nobody is named.
    if (code === 4408 && this.user === '' && !this.#isWanted) return this.#end('idle');
    if (code === 4401 || httpStatus === 401) return this.#refused();
    if (code === 4403 || httpStatus === 403) return this.#end('unauthorized');
    if (isFault) {
      this.say({ do: 'log', text: `closed: ${code} ${text}` });
      return this.#pause(faultPauseMs);
    }
    if (leaveAt !== undefined) return this.#pauseUntil(leaveAt);
    if (code === 4429) {
      this.calls.slow();
      return this.#pause(slowPauseMs + this.#backOff());
    }
    // A client that read too slowly is no reason to come back later and later.
    this.#pause(code === 4410 ? backOffMs(0, this.random) : this.#backOff());
  }

  #backOff() {
    return backOffMs(this.#attempt++, this.random);
  }

  #forgetSocket(isFault) {
    this.#timers.delete('connect', 'authenticate', 'silence', 'probe', 'drain', 'renew');
    this.#hasSocket = this.isReady = false;
    this.#authRef = this.#readyAt = null;
    this.topics.lost();
    this.calls.lost(isFault);
  }

  #pause(ms) {
    this.#phase = 'waiting';
    this.#timers.set('dial', this.now + ms);
  }

  /** Until then, and never so that there are two dials in a second, whoever asks for it. */
  #pauseUntil(at) {
    this.#pause(Math.max(at, this.#dialledAt + hastyMs) - this.now);
  }

  /** No sign of life, or too much of one: what the socket still says is not heard any more. */
  #drop(end) {
    this.say({ do: 'close', gen: this.#gen, code: 1000 });
    this.#closed(end);
  }

  #probe(ms) {
    if (!this.isReady || this.#timers.get('probe') !== undefined) return;
    this.#timers.set('probe', this.now + ms);
    this.send({ event: 'ping' });
  }

  /** The network or the page is back: no pause is sat out, and an open connection has to prove itself. */
  #hurry(withinMs) {
    if (this.#phase === 'suspended') return this.#dial();
    if (this.#phase !== 'waiting') return this.#probe(probeMs);
    const at = Math.max(this.now + Math.round(this.random() * withinMs), this.#dialledAt + hastyMs);
    if (at < this.#timers.get('dial')) this.#timers.set('dial', at);
    this.#runDue();
  }

  #heard() {
    this.#timers.delete('probe');
    this.#timers.set('silence', this.now + silenceMs);
  }

  // The protocol.

  #text(text) {
    if (text.length > messageMax) return this.#drop({ code: 1009, reason: 'too large' });
    const message = messageOf(text);
    if (message === null) return this.say({ do: 'log', text: 'no message' });
    const { event, topic, ref, offset, told } = message;
    switch (event) {
      case 'pong': case 'warning': return undefined;
      case 'authenticated': return this.#authenticated(ref, told);
      case 'subscribed': return this.topics.subscribed(topic ?? told.topic, ref, told);
      case 'unsubscribed': return this.topics.unsubscribed(topic ?? told.topic, ref);
      case 'ack': return this.calls.answered(ref, message.data);
      case 'gap': return this.topics.gap(topic, told);
      case 'presence': return this.topics.presence(topic, told);
      case 'draining': return this.#draining(told);
      case 'token:expiring': return this.#expiring();
      case 'error': return this.#failed(ref, topic, told);
      default: return this.topics.event(topic, event, message.data, offset);
    }
  }

  #draining({ reconnectAfterMs }) {
    if (this.isReady) this.#phase = 'draining';
    this.#timers.set('drain', this.now + bounded(reconnectAfterMs, 0, drainMsMax, 1_000));
  }

  #expiring() {
    if (this.#tokens.kind !== 'source' || !this.isReady || this.#tokens.asking !== null) return;
    const at = this.#tokens.renewAt(this.now);
    if (this.now < at) return this.#timers.set('renew', at);
    if (this.#tokens.current?.isUnused) return this.#authenticate();
    this.#tokenGen = this.#gen;
    this.#ask();
  }

  #failed(ref, topic, told) {
    if (this.#authRef !== null && ref === this.#authRef) {
      const { message } = errorOf(told);
      const isRefused = told.code === 'unauthorized';
      this.#lastClose = { code: 1000, reason: message, httpStatus: null };
      this.#reason = isRefused ? reasonOf({ code: 4401, reason: message }) : reason('unavailable', message);
      this.#hangUp();
      // Another user needs another connection; a busy gateway needs time.
      if (isRefused) this.#refused();
      else this.#pause(this.#backOff());
    } else if (!this.calls.failed(ref, told)) {
      if (!this.topics.failed(ref, topic, told)) this.say({ do: 'log', text: `error ${told.code}` });
    }
  }

  // Time.

  #runDue() {
    for (let name = this.#timers.due(this.now); name !== null; name = this.#timers.due(this.now)) this.#due(name);
  }

  #due(name) {
    switch (name) {
      case 'dial': return this.#dial();
      case 'connect': case 'authenticate': case 'probe':
        return this.#drop({ code: 0, reason: 'no answer', problem: ['no_answer', 'The gateway does not answer.'] });
      case 'silence': return this.#probe(answerMs);
      case 'renew': return this.#expiring();
      case 'ask': return this.#gotToken({ id: this.#tokens.asking, token: null });
      default:  // drain: the gateway told us to be elsewhere by now
        this.#hangUp();
        return this.#pauseUntil(this.now);
    }
  }
}
