/** A client of Switchboard for browsers and Node. README.md has lines to begin with. */

/** Where an event stands in its topic. Offsets can be compared within one epoch. */
export interface Position {
  readonly epoch: string;
  readonly offset: number;
}

/** Codes of the gateway and of scripts, and the client's own. `uncertain`: it may have happened. */
export type ErrorCode =
  | 'bad_request' | 'unauthorized' | 'forbidden' | 'not_found' | 'conflict' | 'too_large' | 'rate_limited' | 'internal'
  | 'unavailable' | 'timeout' | 'cancelled' | 'stopped' | 'offline' | 'expired' | 'uncertain' | 'storage'
  | (string & {});

/** Why a call failed or a topic ended. */
export class SwitchboardError extends Error {
  constructor(code: ErrorCode, message?: string, retryAfterMs?: number | null);
  readonly code: ErrorCode;
  readonly retryAfterMs: number | null;
}

/** The events of a topic by name, with their data: `{ 'queue:update': { queueLength: number } }`. */
export type EventMap = { readonly [name: string]: unknown };

/** The topic is subscribed. Without recovery what was known before is void, and `state` replaces it where the namespace
 *  has one. A loop on a topic that others read already begins with the last state and the events since. */
export interface Live<State> {
  readonly type: 'live';
  readonly recovered: boolean;
  readonly state?: State;
  readonly position: Position;
}

/** An event, each once and in order; `position` is null for one that cannot be recovered. */
export type TopicEvent<Events extends EventMap> = {
  readonly [Name in keyof Events & string]: {
    readonly type: 'event';
    readonly event: Name;
    readonly data: Events[Name];
    readonly position: Position | null;
  };
}[keyof Events & string];

/** Events were missed; `missed` is null when nobody knows how many. */
export interface Gap {
  readonly type: 'gap';
  readonly reason: 'missed' | 'reset' | 'conflated' | 'notRecovered' | 'followed' | 'tooSlow';
  readonly missed: number | null;
  readonly position: Position | null;
}

/** The topic is not live for now; the client sees to it. */
export interface Pending {
  readonly type: 'pending';
  readonly error?: SwitchboardError;
}

/** Somebody who is here. `user` alone proves who it is. */
export interface Member {
  readonly id: string;
  readonly user: string | null;
  readonly key: string;
  readonly meta?: { readonly [name: string]: unknown };
}

/** Who is here, or how that changed. */
export type PresenceUpdate =
  | { readonly type: 'presence'; readonly members: readonly Member[]; readonly joins?: undefined }
  | {
    readonly type: 'presence';
    readonly members?: undefined;
    readonly joins: readonly Member[];
    readonly updates: readonly Member[];
    readonly leaves: readonly Member[];
  };

export type Update<Events extends EventMap = EventMap, State = unknown> =
  Live<State> | TopicEvent<Events> | Gap | Pending | PresenceUpdate;

export interface TopicOptions {
  /** A position that the program kept. */
  readonly since?: Position;
  /** To be told who is here. */
  readonly presence?: boolean;
  /** The key by which a newer event takes the place of one that was not read yet; null keeps the event. */
  readonly latestBy?: (update: { readonly event: string; readonly data: unknown }) => string | number | null | undefined;
  readonly signal?: AbortSignal;
}

/** A topic: subscribed while somebody iterates. A loop ends with the client, and throws when the topic is refused. */
export interface Topic<Events extends EventMap = EventMap, State = unknown>
  extends AsyncIterable<Update<Events, State>> {
  readonly name: string;
  /** The events alone, of these names if there are any. */
  events<Name extends keyof Events & string>(...names: Name[]):
    AsyncIterableIterator<Extract<TopicEvent<Events>, { readonly event: Name }>>;
  /** Who is here by id, whenever it changes. Needs the option `presence`. */
  presence(): AsyncIterableIterator<ReadonlyMap<string, Member>>;
  /** Lists the client here on every connection, while the topic is iterated; null: no longer. */
  track(meta?: { readonly [name: string]: unknown } | null): void;
  /** Asks for the state anew: it comes as `live`. */
  resynchronise(): void;
}

export interface CallOptions {
  /** The operation's name: a call of the same name is the same operation. Random if there is none. */
  readonly id?: string;
  /** How long to wait for an answer, over any number of connections: 60,000. */
  readonly timeoutMs?: number;
  /** Keeps the call in the storage for so long, a day at most, and tries until then. */
  readonly keepMs?: number;
  /** Calls of a lane go one after the other. */
  readonly lane?: string;
  /** The call may be done twice: it is repeated however old it is. */
  readonly repeatable?: boolean;
  /** Fails at once where there is no connection. */
  readonly failOffline?: boolean;
  readonly signal?: AbortSignal;
}

/** Why there is no connection. New codes may come. */
export interface Reason {
  readonly code:
    | 'bad_address' | 'unresolved' | 'unreachable' | 'untrusted' | 'not_tls' | 'tls_required' | 'wrong_protocol'
    | 'not_websocket' | 'not_found' | 'forbidden' | 'unauthorized' | 'unavailable' | 'no_answer' | 'lost' | 'closed'
    | 'token_source' | (string & {});
  /** In words, for a developer. */
  readonly message: string;
  /** Whether waiting does not help: the address, the server or the credentials have to be mended. */
  readonly isPermanent: boolean;
}

export interface Status {
  readonly phase:
    'stopped' | 'idle' | 'connecting' | 'authenticating' | 'open' | 'draining' | 'waiting' | 'unauthorized' | 'suspended';
  readonly isReady: boolean;
  /** Pauses since a connection was last open for ten seconds. */
  readonly attempt: number;
  readonly retryInMs: number | null;
  readonly lastClose: { readonly code: number; readonly reason: string; readonly httpStatus: number | null } | null;
  /** Null while there is a connection, and when nobody wants one. */
  readonly reason: Reason | null;
  readonly userId: string | null;
  readonly pendingCalls: number;
}

/** A call as storage keeps it. `data` is JSON text; times are dates in ms. */
export interface OutboxEntry {
  readonly id: string;
  readonly event: string;
  readonly topic: string | null;
  readonly data: string;
  readonly user: string;
  readonly lane: string;
  readonly repeatable: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly firstSentAt: number | null;
}

/** Where calls are kept. What `load` and `get` return may be anything: what is no entry is taken away. */
export interface OutboxStorage {
  load(): Iterable<unknown> | Promise<Iterable<unknown>>;
  get(id: string): unknown;
  put(entry: OutboxEntry): unknown;
  remove(id: string): unknown;
}

/** The outcome of a call that nobody waits for any more. */
export interface OutboxResult {
  readonly id: string;
  readonly event: string;
  readonly answer?: unknown;
  readonly error?: SwitchboardError;
}

export interface Outbox {
  readonly entries: readonly OutboxEntry[];
  remove(id: string): void;
  results(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<OutboxResult>;
}

/** Null, a token, or a function that is asked for one when it is needed. One that throws is asked again later. */
export type TokenSource = string | null | ((reason: 'first' | 'expiring' | 'refused') => string | Promise<string>);

/** What the client uses of a WebSocket. */
export interface WebSocketLike {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number): void;
}

export interface ClientOptions {
  readonly token?: TokenSource;
  /** Needed where there is none, as in Node before 22: the package `ws` has one. */
  readonly WebSocket?: new (url: string) => WebSocketLike;
  /** Where calls with `keepMs` survive the program. Without it they are kept while it runs. */
  readonly storage?: OutboxStorage | null;
  /** Hears why there is no connection, once each, and what else a developer wants to know. Default: the reasons alone go
   *  to `console.warn`. */
  readonly log?: (text: string) => void;
  readonly random?: () => number;
  /** Milliseconds that grow steadily. */
  readonly now?: () => number;
  /** The date in milliseconds. */
  readonly wall?: () => number;
}

/** A connection to a gateway that keeps itself. Nothing happens before `start`. */
export class SwitchboardClient {
  /** The address begins with `wss://` or `ws://`; `https://` and `http://` mean the same. */
  constructor(url: string | URL, options?: ClientOptions);
  /** Connects and stays connected. */
  start(): void;
  /** Ends the connection, all topics and all calls. `start` may follow. */
  stop(): void;
  /** Who the client is from now on. */
  setToken(token: TokenSource): void;
  readonly status: Status;
  /** The status and its changes, the newest only. */
  statuses(options?: { readonly signal?: AbortSignal }): AsyncIterableIterator<Status>;
  topic<Events extends EventMap = EventMap, State = unknown>(name: string, options?: TopicOptions):
    Topic<Events, State>;
  /** The topic's state; undefined where its namespace has none.
   *
   *  A client that reads the topic already gives the last state, unless an event has come since: it asks the gateway
   *  only then. That state lacks an event that is still on its way, also one of a call that was answered. */
  state<State = unknown>(name: string, options?: TopicOptions): Promise<State | undefined>;
  /** Runs a command; it is repeated under one id until it is answered, refused or too old. */
  call<Answer = unknown>(event: string, args?: object, options?: CallOptions): Promise<Answer>;
  /** Publishes an event; the answer is its position. */
  publish(topic: string, event: string, data?: unknown, options?: CallOptions): Promise<Position>;
  readonly outbox: Outbox;
}

/** Commands by name, as `switchboard types typescript` writes them: what a call takes, and what it answers. */
export type CommandMap = { readonly [name: string]: { readonly args: object; readonly answer: unknown } };

/** The states of topics by namespace, as `switchboard types typescript` writes them. */
export type StateMap = { readonly [namespace: string]: unknown };

/** The state of a topic, by the namespace in its name. */
export type StateOf<States extends StateMap, Name extends string> =
  Name extends `${infer Namespace}:${string}` ? (Namespace extends keyof States ? States[Namespace] : unknown) : unknown;

/** A client whose calls, events and states are those of a gateway:
 *  `const client: TypedClient<Commands, Events, States> = new SwitchboardClient(url)`. */
export type TypedClient<Commands extends CommandMap, Events extends EventMap = EventMap, States extends StateMap = {}> = {
  call<Name extends keyof Commands & string>(
    event: Name, args: Commands[Name]['args'], options?: CallOptions): Promise<Commands[Name]['answer']>;
  topic<Name extends string>(name: Name, options?: TopicOptions): Topic<Events, StateOf<States, Name>>;
  /** The topic's state, as that of `SwitchboardClient`. */
  state<Name extends string>(name: Name, options?: TopicOptions): Promise<StateOf<States, Name> | undefined>;
} & Omit<SwitchboardClient, 'call'>;

/** A server's value with guesses on top. A change returns a new value, and doing it twice is doing it once. */
export class Optimistic<Value> {
  constructor(value: Value, onChange?: (value: Value) => void);
  readonly value: Value;
  /** What the server says now; `upTo` is the position of the last event in it, where it is known. */
  set(value: Value, upTo?: Position | null): void;
  /** Shows the change at once. An error takes it back; an answer leaves it until the server's value has caught up. */
  perform<Answer>(change: (value: Value) => Value, call: () => Promise<Answer>): Promise<Answer>;
}

/** Keeps calls in a browser's `localStorage`, each under a key of its own. */
export function webStorage(
  area?: Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>, prefix?: string): OutboxStorage;

/** The pause before attempt number `attempt` (from 0): random over all of a doubling range. */
export function backOffMs(attempt: number, random?: () => number): number;

/** A random name for an operation. */
export function operationId(): string;
