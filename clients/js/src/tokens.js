// What a client shows to say who it is: nothing, one token, or what a source gives when it is asked, once at a time.

/** The share of a token's life after which a new connection asks for another one. */
const freshShare = 0.8;
/** How long a source may take. */
export const askMs = 60_000;
/** Between two requests for a token since the present one ends: a source may give tokens that end as soon. */
const renewMs = 1_000;

export class Tokens {
  kind = 'none';
  /** {text, user, isUnused, freshUntil}, or null. */
  current = null;
  isRefused = false;
  asking = null;
  #renewedAt = -Infinity;
  #asks = 0;

  set(kind, text, now) {
    this.kind = kind;
    this.asking = null;
    this.#take(kind === 'fixed' ? text : null, now);
  }

  /** Whether a connection may begin with what is there. */
  isEnough(now) {
    if (this.kind !== 'source') return true;
    return this.current !== null && !this.isRefused && (this.current.isUnused || this.current.freshUntil > now);
  }

  /** When a token that ends may be renewed: now, which then counts as done, or later. */
  renewAt(now) {
    const at = Math.max(now, this.#renewedAt + renewMs);
    if (at === now) this.#renewedAt = now;
    return at;
  }

  /** The request to make, or null when one is under way. */
  ask() {
    if (this.asking !== null) return null;
    this.asking = ++this.#asks;
    return { do: 'token', id: this.asking, reason: this.isRefused ? 'refused' : this.current ? 'expiring' : 'first' };
  }

  /** Takes what a source gave; false when it is no token. */
  got(text, now) {
    this.asking = null;
    const isOne = typeof text === 'string' && text !== '';
    if (isOne) this.#take(text, now);
    return isOne;
  }

  #take(text, now) {
    this.isRefused = false;
    const { user, lifeMs } = factsOf(text);
    this.current = text === null ? null : { text, user, isUnused: true, freshUntil: now + freshShare * lifeMs };
  }
}

/** The user and the life of a token, as far as it tells: nobody checks it here, the gateway does. */
function factsOf(token) {
  try {
    const text = atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'));
    const { sub, exp, iat } = JSON.parse(text);
    return { user: typeof sub === 'string' ? sub : null, lifeMs: exp > iat ? (exp - iat) * 1_000 : 0 };
  } catch {
    return { user: null, lifeMs: 0 };  // a token need not be one that a client can read
  }
}
