// What a tab's own connections carry, in and out. Secrets are hidden before a frame is kept, so no view can show one.

/** Frames that are kept for a tab; the oldest goes first. */
export const framesMax = 200;
/** Characters of a frame that are kept. */
const charactersMax = 16_384;
const hidden = '***';

const secretName = /token|secret|api_?key|passw|authorization|ticket|cookie/i;
// A signed token, and the address of a device, wherever they stand.
const secrets = [/eyJ[\w-]{6,}\.[\w-]+\.[\w-]*/g, /\b[0-9a-f]{64}\b/gi];
const secretInQuery = /([?&](?:api_?key|(?:access_)?token|ticket)=)[^&#\s]*/gi;

/** A text without secrets. */
export function clean(text) {
  const shown = secrets.reduce((left, form) => left.replace(form, hidden), text);
  return shown.replace(secretInQuery, `$1${hidden}`);
}

/** The value of a JSON text without secrets; undefined for what is no JSON. */
function read(text) {
  const isSecret = (key, value) => secretName.test(key)
    && (typeof value === 'string' || (typeof value === 'object' && value !== null));
  try {
    return JSON.parse(text, (key, value) => {
      if (isSecret(key, value)) return hidden;
      return typeof value === 'string' ? clean(value) : value;
    });
  } catch {
    return undefined;
  }
}

/** Members of a command that name what it is about. */
const named = /^(shop|challenge|barber|conversation)Id$/;

/** What a frame says: {event, topics, ref}. Arrays are frames of Phoenix, objects the gateway's own. */
function about(frame) {
  if (Array.isArray(frame)) return { event: frame[3], topics: [frame[2]].filter(isText), ref: frame[1] };
  const { event, topic, data, ref } = frame ?? {};
  const several = Array.isArray(data?.topics) ? data.topics.map((one) => one?.topic ?? one) : [];
  const members = Object.entries(data ?? {}).flatMap(([name, value]) => {
    const kind = named.exec(name)?.[1];
    return kind === undefined ? [] : [`${kind}:${value}`];
  });
  return { event, topics: [topic, data?.topic, ...several, ...members].filter(isText), ref };
}

const isText = (value) => typeof value === 'string';

export class Wire {
  #isOwn;
  #number = 0;
  /** Requests that have no answer yet: ref -> what was asked, null for a request of another tab. */
  #asked = new Map();

  /** Newest first: {number, way, at, heading, topic, body, characters}. */
  frames = [];
  /** The topics that are followed on the connection. */
  topics = new Set();
  /** The path of the connection; null before the first. */
  path = null;
  /** Is called after each frame. */
  onChange = () => {};

  /**
   * `dialect` names the protocol for a person. Where several tabs share a connection, `isOwn` says which topics are
   * this tab's; a frame of others' topics is left out.
   */
  constructor(dialect, isOwn = () => true) {
    this.dialect = dialect;
    this.#isOwn = isOwn;
  }

  /** The connection was opened, or tried. */
  connecting(path) {
    this.path = clean(path);
    this.#asked.clear();
    this.topics.clear();
    this.#keep('note', 'Connecting', '', '');
  }

  ended(code, reason) {
    this.#keep('note', `Closed, code ${code}`, '', clean(reason));
  }

  /** A frame of a socket; `way` is in or out. */
  frame(way, text) {
    const value = read(text);
    const { event, topics, ref } = about(value);
    const isOwn = this.#belongs(way, topics, ref);
    const asked = way === 'in' && ref != null ? this.#asked.get(ref) : undefined;
    if (way === 'out') this.#note(ref, isOwn ? event : null);
    if (asked === null || !isOwn) return;
    this.#follow(way, event, topics);
    const heading = asked && asked !== event ? `${event} of ${asked}` : event;
    this.#keep(way, isText(heading) ? heading : 'frame', topics[0] ?? '', value === undefined ? clean(text) : value);
  }

  /** A request of HTTP, or its answer. */
  request(way, heading, text) {
    const value = text === '' ? '' : read(text) ?? clean(text);
    this.#keep(way, clean(heading), '', value);
  }

  #belongs(way, topics, ref) {
    if (way === 'in' && this.#asked.get(ref) === null) return false;
    return topics.length === 0 || topics.some((topic) => this.#isOwn(topic));
  }

  #note(ref, event) {
    if (ref == null) return;
    this.#asked.set(ref, event);
    if (this.#asked.size > framesMax) this.#asked.delete(this.#asked.keys().next().value);
  }

  #follow(way, event, topics) {
    const own = topics.filter((topic) => this.#isOwn(topic));
    const isOut = way === 'out';
    const begins = event === 'subscribed' || (isOut && event === 'phx_join');
    const ends = isOut && (event === 'unsubscribe' || event === 'phx_leave');
    for (const topic of own) {
      if (begins) this.topics.add(topic);
      if (ends) this.topics.delete(topic);
    }
  }

  #keep(way, heading, topic, value) {
    const whole = isText(value) ? value : JSON.stringify(value, null, 2);
    const more = whole.length - charactersMax;
    const body = more > 0 ? `${whole.slice(0, charactersMax)}\n… and ${more} characters more` : whole;
    this.#number += 1;
    this.frames.unshift({ number: this.#number, way, at: new Date(), heading, topic, body });
    if (this.frames.length > framesMax) this.frames.length = framesMax;
    this.onChange();
  }
}

/** A WebSocket as the browser's own, which tells wires what passes. */
export const tapped = (...wires) => class extends WebSocket {
  constructor(...given) {
    super(...given);
    const { pathname } = new URL(this.url);
    for (const wire of wires) wire.connecting(pathname);
    this.addEventListener('message', ({ data }) => isText(data) && wires.forEach((wire) => wire.frame('in', data)));
    this.addEventListener('close', ({ code, reason }) => wires.forEach((wire) => wire.ended(code, reason)));
  }

  send(text) {
    super.send(text);
    if (isText(text)) for (const wire of wires) wire.frame('out', text);
  }
};
