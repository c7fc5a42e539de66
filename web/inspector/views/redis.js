// Redis as this gateway sees it: latency, memory, slots, and whether its data would survive a restart.
import { make, say } from '/inspector/dom.js';
import { Figures } from '/inspector/figures.js';
import { bytes, figure, milliseconds, number, span, time } from '/inspector/format.js';
import { Metrics, Pages } from '/inspector/metrics.js';
import { Table } from '/inspector/table.js';

/** The figures are those of the last seconds. */
const WINDOW_MS = 15_000;
const ROWS = ['redis', 'redis_persistence', 'redis_default_user', 'redis_eviction', 'redis_memory'];

export function openRedis(content) {
  const figures = new Figures(
    ['Mean latency', '99 of 100 within', 'Commands a second', 'Failures', 'Late replies', 'Newest probe']);
  const verdict = make('p', { class: 'notice', role: 'status', hidden: true });
  const reasons = make('ul', { class: 'facts', 'aria-label': 'Reasons' });
  const masters = new Table('Servers', [
    { label: 'Master', text: ({ address }) => address, kind: 'code' },
    { label: 'State', state },
    { label: 'Memory', text: ({ used }) => bytes(used), kind: 'number' },
    { label: 'Bound', text: ({ max }) => (max === 0 ? 'none' : bytes(max)), kind: 'number' },
    { label: 'Used', text: ({ used, max }) => (max > 0 ? `${figure((used / max) * 100)} %` : '–'), kind: 'number' },
    { label: 'Slots', text: ({ slots }) => number(slots), kind: 'number' },
    { label: 'Evicted keys', text: ({ evicted }) => number(evicted), kind: 'number' },
  ], { key: ({ address }) => address, empty: 'No master is known: Redis cannot be used.' });
  const failures = new Table('Failures since the start', [
    { label: 'Kind', text: ({ kind }) => kind }, { label: 'Count', text: ({ count }) => number(count), kind: 'number' },
  ], { key: ({ kind }) => kind, empty: 'No command has failed since this gateway began.' });
  content.append(figures.node,
    make('section', { class: 'card', 'aria-label': 'After a restart' },
      make('h2', {}, 'Would its data survive a restart?'), verdict, reasons),
    make('section', { 'aria-label': 'Servers' }, make('h2', {}, 'Servers'), masters.node),
    make('section', { 'aria-label': 'Failures' }, make('h2', {}, 'Failures since the start of this gateway'),
      failures.node));
  const pages = new Pages(WINDOW_MS);
  return {
    next: (tick) => (tick % 3 === 1 ? { name: 'health', path: '/v1/health' }
      : { name: 'metrics', path: '/metrics', isText: true }),
    show(name, answer) {
      if (name === 'health') return survival(answer.rows, verdict, reasons);
      const page = new Metrics(answer);
      const change = pages.take(page);
      const failed = page.lines('redis_failures_total').filter(({ value }) => value > 0)
        .map(({ labels, value }) => ({ kind: labels.kind, count: value }));
      const count = failed.reduce((sum, one) => sum + one.count, 0);
      const late = page.value('redis_late_replies_total');
      const p99 = change?.quantile('redis_latency_seconds', 0.99) ?? NaN;
      figures.show([
        [milliseconds((change?.mean('redis_latency_seconds') ?? NaN) * 1_000)],
        [p99 === Infinity ? 'no bound' : milliseconds(p99 * 1_000)],
        [figure(change?.rate('redis_commands_total') ?? NaN)], [number(count), count > 0 ? 'warned' : ''],
        [number(late), late > 0 ? 'warned' : ''], [span(page.value('redis_probe_age_seconds'))],
      ]);
      masters.show(servers(page));
      failures.show(failed.sort((one, other) => other.count - one.count));
    },
  };
}

/** Each master with its figures. */
function servers(page) {
  const used = page.by('redis_used_bytes', 'address');
  const addresses = new Set([...page.by('redis_master', 'address').keys(), ...used.keys()]);
  const of = (name, address) => page.value(name, { address });
  return [...addresses].sort().map((address) => ({
    address, used: of('redis_used_bytes', address), max: of('redis_maxmemory_bytes', address),
    slots: of('redis_master_slots', address), evicted: of('redis_evicted_keys_total', address),
    isReady: of('redis_master_ready', address) !== 0, mayEvict: of('redis_may_evict', address) === 1,
    isKnown: of('redis_master', address) !== 0,
  }));
}

function state({ isReady, isKnown, mayEvict }) {
  if (!isReady || !isKnown) return ['red', 'Not proven'];
  return mayEvict ? ['warned', 'May evict keys'] : ['good', 'Proven'];
}

/** The answer in words, from the rows of readiness. */
function survival(rows, verdict, reasons) {
  const known = new Map(rows.map((row) => [row.name, row]));
  const broken = ROWS.map((name) => known.get(name)).filter((row) => row !== undefined && row.state !== 'fine');
  const appendOnly = known.get('redis_persistence')?.figures.appendonly;
  const answers = {
    yes: ['good', 'Yes. Every master writes its append-only file and may load it again.'],
    part: ['warned', 'In part. A master writes no append-only file: its restart brings back the last dump, if any.'],
    no: ['warned', 'No. Redis writes no append-only file: a restart brings back its last dump, if any.'],
  };
  const [kind, text] = broken.some(({ name }) => name !== 'redis_memory') ? ['warned', 'Perhaps not. See below.']
    : answers[appendOnly] ?? ['', 'This gateway does not know yet.'];
  verdict.hidden = false;
  verdict.className = `notice ${kind}`;
  say(verdict, text);
  const facts = broken.map(({ name, state: now, reason, since, mend }) =>
    `${name} is ${now}${reason ? ` (${reason})` : ''} since ${since === null ? 'the start' : time(since)}: ${mend}.`);
  if (reasons.dataset.told === facts.join('\n')) return;
  reasons.dataset.told = facts.join('\n');
  reasons.replaceChildren(...facts.map((fact) => make('li', {}, fact)));
}
