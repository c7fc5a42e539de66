// The last fifteen minutes of this gateway, which the page collects itself, whatever it shows.
import { bytes, figure, milliseconds, number } from '/inspector/format.js';
import { Change, Metrics } from '/inspector/metrics.js';

export const KEEP_MS = 15 * 60_000;
const EVERY_MS = 5_000;

const gauge = (name) => ({ after }) => after.value(name);
const rate = (name) => (change) => change.rate(name);
const mean = (name) => (change) => change.mean(name) * 1_000;

/** The series: a title, a unit, and how a value follows from two pages of metrics. */
export const SERIES = [
  { name: 'connections', title: 'Connections', unit: number, of: gauge('connections') },
  { name: 'sessions', title: 'Sessions', unit: number, of: gauge('sessions') },
  { name: 'events', title: 'Events a second', unit: figure, of: rate('events_total') },
  { name: 'deliveries', title: 'Deliveries a second', unit: figure, of: rate('deliveries_total') },
  { name: 'latency', title: 'Delivery latency, mean', unit: milliseconds, of: mean('delivery_latency_seconds') },
  { name: 'redis', title: 'Redis latency, mean', unit: milliseconds, of: mean('redis_latency_seconds') },
  { name: 'queued', title: 'Bytes waiting for clients', unit: bytes, of: gauge('queued_bytes') },
  { name: 'memory', title: 'Memory', unit: bytes, of: gauge('resident_bytes') },
  { name: 'processor', title: 'Processor, cores', unit: figure, of: rate('process_cpu_seconds_total') },
  { name: 'refused', title: 'Refusals a second', unit: figure, of: rate('rate_limited_total') },
];

export class Samples {
  #api;
  #last = null;
  #timer = null;
  /** What became of the newest question, for the page that shows the charts. */
  failure = null;
  /** Samples, the oldest first: {atMs, values}. */
  taken = [];

  constructor(api) { this.#api = api; }

  start() {
    this.stop();
    this.#take();
  }

  stop() { clearTimeout(this.#timer); }

  async #take() {
    this.#timer = setTimeout(() => this.#take(), EVERY_MS);
    try {
      const page = new Metrics(await this.#api.text('/metrics'));
      if (this.#last !== null) {
        const change = new Change(this.#last, page);
        this.taken.push({ atMs: page.atMs, values: SERIES.map((series) => series.of(change)) });
      }
      this.#last = page;
      this.failure = null;
    } catch (failure) {
      // A hole in the charts says when nothing was known.
      this.failure = failure;
      this.#last = null;
      this.taken.push({ atMs: Date.now(), values: SERIES.map(() => NaN) });
    }
    while (this.taken.length > 0 && Date.now() - this.taken[0].atMs > KEEP_MS) this.taken.shift();
  }
}
