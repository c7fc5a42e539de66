// What the machine's parts share: pauses, allowances, and what may be believed of a message.

/** Why a call failed or a topic ended. Codes of the gateway and of scripts pass through as they are; the client's own
 *  are `timeout`, `cancelled`, `stopped`, `offline`, `expired`, `uncertain`, `storage` and `too_large`. */
export class SwitchboardError extends Error {
  constructor(code, message = code, retryAfterMs = null) {
    super(message);
    this.name = 'SwitchboardError';
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The gateway ends a connection that says more at once (`inboundMessageBytesMax`). */
export const frameBytesMax = 65_536;
/** Of a message, in UTF-16 units: a gateway says less. */
export const messageMax = 8_388_608;
/** Codes of closes: the gateway did not understand us, and coming back at once would end alike. */
export const faults = new Set([1002, 1003, 1007, 1008, 1009, 4400]);
/** Pauses after such a close, and after one for our rate; the longest that a gateway may ask for. */
export const faultPauseMs = 30_000;
export const slowPauseMs = 5_000;
export const drainMsMax = 60_000;

/** For a connection, the answer to a token, and that to a question after silence. */
export const answerMs = 10_000;
export const silenceMs = 25_000;
export const probeMs = 3_000;
/** A connection this old has proved itself: the next failure starts with the shortest pause. */
export const stableMs = 10_000;
export const hastyMs = 1_000;
export const onlineMs = 500;

const backOffMinMs = 100;
const backOffBaseMs = 1_000;
const backOffMaxMs = 30_000;

/** The pause before attempt number `attempt` (from 0): random over all of a doubling range, so that herds spread. */
export function backOffMs(attempt, random = Math.random) {
  const ceiling = Math.min(backOffMaxMs, backOffBaseMs * 2 ** Math.min(attempt, 16));
  return Math.round(backOffMinMs + random() * (ceiling - backOffMinMs));
}

/** So many at once, and so many a second: a token bucket. */
export class Allowance {
  #burst;
  #left;
  #filledAt = -Infinity;

  constructor(burst, perSecond) {
    this.#burst = this.#left = burst;
    this.perSecond = perSecond;
  }

  refill() {
    this.#left = this.#burst;
  }

  /** How many may go now. */
  left(now) {
    this.#left = Math.min(this.#burst, this.#left + Math.max(0, now - this.#filledAt) * this.perSecond / 1_000);
    this.#filledAt = now;
    return Math.floor(this.#left + 1e-6);
  }

  spend(count) {
    this.#left -= count;
  }

  /** When so many may go, behind `left`. */
  whenMs(now, count) {
    return now + Math.ceil((Math.min(count, this.#burst) - this.#left) * 1_000 / this.perSecond);
  }
}

/** Deadlines by name. */
export class Timers {
  #at = new Map();

  get wakeAt() {
    return Math.min(...this.#at.values());
  }

  get(name) {
    return this.#at.get(name);
  }

  set(name, at) {
    this.#at.set(name, at);
  }

  delete(...names) {
    for (const name of names) this.#at.delete(name);
  }

  /** Takes out the earliest that is due. */
  due(now) {
    let [name, at] = [null, now];
    for (const [one, time] of this.#at) if (time <= at) [name, at] = [one, time];
    this.#at.delete(name);
    return name;
  }
}

export const isOffset = (value) => Number.isSafeInteger(value) && value >= 0;

/** The position in an object, or null when there is none that can be one. */
export function positionOf(value) {
  const isOne = typeof value?.epoch === 'string' && /^.{1,64}$/.test(value.epoch) && isOffset(value.offset);
  return isOne ? { epoch: value.epoch, offset: value.offset } : null;
}

/** A duration that a peer told: within bounds, or the default. */
export function bounded(value, low, high, other) {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : other;
}

/** The error in the data of an `error` message. */
export function errorOf({ code, message, retryAfterMs }) {
  const text = typeof code === 'string' && code !== '' ? code : 'internal';
  return new SwitchboardError(text, typeof message === 'string' ? message : text, bounded(retryAfterMs, 0, 6e4, null));
}

/** A message of the gateway, or null; `told` is its data where that has members. */
export function messageOf(text) {
  try {
    const message = JSON.parse(text);
    if (typeof message.event !== 'string') return null;
    return { ...message, told: typeof message.data === 'object' ? message.data ?? {} : {} };
  } catch {
    return null;  // no JSON, or `null`
  }
}

/** A random name for an operation: a retry under the same one does nothing twice. */
export function operationId() {
  const bytes = new Uint8Array(16);
  if (globalThis.crypto?.getRandomValues) crypto.getRandomValues(bytes);
  else bytes.forEach((_, index) => { bytes[index] = Math.random() * 256; });
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
