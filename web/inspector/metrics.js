// The metrics page of the gateway that answers, read from Prometheus's text format.

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export class Metrics {
  #families = new Map();

  constructor(text) {
    this.atMs = Date.now();
    for (const line of text.split('\n')) {
      const found = line.startsWith('#') ? null : LINE.exec(line);
      if (found === null) continue;
      const labels = {};
      for (const [, name, value] of (found[2] ?? '').matchAll(LABEL)) labels[name] = value.replace(/\\(.)/g, '$1');
      const number = found[3] === '+Inf' ? Infinity : Number(found[3]);
      if (!this.#families.has(found[1])) this.#families.set(found[1], []);
      this.#families.get(found[1]).push({ labels, value: number });
    }
  }

  /** The lines of a metric: {labels, value}. */
  lines(name) { return this.#families.get(`switchboard_${name}`) ?? this.#families.get(name) ?? []; }

  /** The sum of a metric's lines that have these labels; NaN without such a line. */
  value(name, labels = {}) {
    const wanted = Object.entries(labels);
    const lines = this.lines(name).filter((line) => wanted.every(([key, value]) => line.labels[key] === value));
    return lines.length === 0 ? NaN : lines.reduce((sum, { value }) => sum + value, 0);
  }

  /** A metric by one label: a map from the label's values to the numbers. */
  by(name, label) { return new Map(this.lines(name).map(({ labels, value }) => [labels[label], value])); }
}

/** What happened between two pages of metrics. */
export class Change {
  constructor(before, after) {
    Object.assign(this, { before, after, seconds: (after.atMs - before.atMs) / 1_000 });
  }

  /** Growth of a counter a second; NaN after a restart. */
  rate(name, labels) {
    const grown = this.after.value(name, labels) - this.before.value(name, labels);
    return grown >= 0 && this.seconds > 0 ? grown / this.seconds : NaN;
  }

  /** Mean of a histogram's observations, seconds; NaN without any. */
  mean(name) {
    const count = this.after.value(`${name}_count`) - this.before.value(`${name}_count`);
    const sum = this.after.value(`${name}_sum`) - this.before.value(`${name}_sum`);
    return count > 0 ? sum / count : NaN;
  }

  /** The bound below which this share of a histogram's observations lies, seconds; NaN without any. */
  quantile(name, share) {
    const then = this.before.by(`${name}_bucket`, 'le');
    const buckets = [...this.after.by(`${name}_bucket`, 'le')]
      .map(([le, count]) => [le === '+Inf' ? Infinity : Number(le), count - (then.get(le) ?? 0)])
      .sort(([one], [other]) => one - other);
    const all = buckets.at(-1)?.[1] ?? 0;
    return all > 0 ? buckets.find(([, count]) => count >= all * share)[0] : NaN;
  }
}

/** The newest pages of metrics, of which the oldest is `keepMs` before the newest. */
export class Pages {
  #pages = [];

  constructor(keepMs) { this.keepMs = keepMs; }

  /** Takes a page; returns what happened since the oldest one that is kept, null for the first. */
  take(page) {
    this.#pages.push(page);
    while (this.#pages.length > 2 && page.atMs - this.#pages[1].atMs >= this.keepMs) this.#pages.shift();
    return this.#pages.length > 1 ? new Change(this.#pages[0], page) : null;
  }
}
