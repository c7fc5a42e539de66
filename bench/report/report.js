// The page: what the figures say in a sentence, then each scenario with its targets side by side.

const { sources, groups } = JSON.parse(document.getElementById('results').textContent);

const scenarios = {
  fanout: ['Fan-out', 'Each publish goes to every connection.'],
  unicast: ['Unicast', 'Each publish goes to one of many topics.'],
  idle: ['Idle connections', 'Connections are opened and left alone.'],
  churn: ['Churn', 'Connections come and go.'],
  herd: ['Herd', 'All clients come back at once.'],
  slow: ['Slow clients', 'Some clients hardly read; the others must not notice.'],
  vote: ['Votes', 'Users send commands and wait for their acknowledgement.'],
  queue: ['Queue', 'A booking changes, and everybody sees the new queue.'],
  capacity: ['Capacity', 'The highest rate with p99 within 50 ms and nothing lost.'],
};
const names = {
  floor: 'Floor', switchboard: 'Switchboard', nchan: 'nginx + nchan', ws: 'Node ws', socketio: 'Socket.IO',
};
const shades = { floor: 's0', switchboard: 's1', nchan: 's2', ws: 's3', socketio: 's4' };

/** The name as it is shown: the well-known ones as their makers write them. */
const shown = (run) => (names[run.kind] && run.name.startsWith(run.kind)
  ? names[run.kind] + run.name.slice(run.kind.length) : run.name);

// The same colour for the same name on the whole page; names that share a target get further ones.
const given = new Map();
for (const run of groups.flatMap((group) => group.runs)) {
  if (given.has(run.name)) continue;
  const own = shades[run.kind];
  const used = [...given.values()];
  const free = ['s5', 's6', 's4', 's3', 's2', 's1'];
  const other = free.find((shade) => !used.includes(shade)) ?? free[given.size % free.length];
  given.set(run.name, own && !used.includes(own) ? own : other);
}
const shade = (run) => given.get(run.name);

const floorOf = (group) => group.runs.find((run) => run.isReference);
/** Whom the page is about: Switchboard, else the first that is not the floor. */
const subjectOf = (group) => group.runs.find((run) => run.kind === 'switchboard')
  ?? group.runs.find((run) => run.kind !== 'floor') ?? group.runs[0];
const rateOf = (group) => Number(group.load.rate);
const lossOf = ({ result, refusals }) => (refusals ? 'refused' : result.lost > 0 ? `lost ${rounded(result.lost)}`
  : result.passed ? '' : 'failed');

/** ` at 20/s`, of a group that has a rate. */
const atRate = (group) => (rateOf(group) > 0 ? ` at ${whole(rateOf(group))}/s` : '');
/** What tells a group from the others, shortly. */
const briefly = (group) => (scenarios[group.scenario] ?? [group.scenario])[0] + atRate(group);

// Figures for bars; each tells whether less is better.
const measures = [
  { title: 'CPU per delivery', unit: 'µs', less: true, of: (result) => result.server?.cpuUsPerDelivery },
  { title: 'Memory per connection', unit: 'kB', less: true,
    of: ({ server }) => server?.privateBytesPerConnection && server.privateBytesPerConnection / 1000 },
  { title: 'CPU to set up a connection', unit: 'µs', less: true, of: (result) => result.server?.cpuUsPerConnection },
  { title: 'Highest rate that held', unit: 'publishes/s', less: false, of: (result) => result.highestRate },
  { title: 'Handshakes', unit: '1/s', less: false, of: (result) => result.handshakesPerSecond },
  { title: 'Acknowledged', unit: '1/s', less: false, of: (result) => result.acknowledgedPerSecond },
];

/** The bars of one measure; `null` when nobody has it. */
function barsOf(group, measure, heading, most) {
  const floor = floorOf(group);
  const base = floor && measure.of(floor.result);
  const bars = group.runs.filter((run) => Number.isFinite(measure.of(run.result))).map((run) => {
    const value = measure.of(run.result);
    const ratio = base > 0 && run !== floor ? `${short(value / base)} ×` : '';
    const text = short(value);
    return { name: shown(run), shade: shade(run), value, text, remark: ratio, warning: lossOf(run) };
  });
  const reference = base > 0 && bars.length > 1 ? { value: base, text: `floor ${short(base)}` } : undefined;
  const note = `${measure.unit}, ${measure.less ? 'less' : 'more'} is better${reference ? '; × the floor' : ''}`;
  return barFigure({ title: heading ?? measure.title, note, bars, reference, most });
}

// A group: table, plots, notes.

function table(group) {
  const columns = [
    ['Highest rate', '1/s', ({ result }) => result.highestRate !== undefined && whole(result.highestRate)],
    ['Delivered', '1/s', ({ result }) => rounded(result.deliveriesPerSecond)],
    ['Acknowledged', '1/s', ({ result }) => rounded(result.acknowledgedPerSecond)],
    ['Lost', '', ({ result }) => (result.lost > 0
      ? node('span', { class: 'lost' }, `${whole(result.lost)} lost`) : result.lost === 0 && 'none')],
    ...[['p50', 'p50Us'], ['p99', 'p99Us'], ['p99.9', 'p999Us'], ['max', 'maxUs']].map(([name, member]) =>
      [name, 'ms', ({ result }) => short(result.latency?.[member] / 1000)]),
    ['CPU per delivery', 'µs', ({ result }) => short(result.server?.cpuUsPerDelivery)],
    ['× floor', '', ({ cpuOverFloor }) => short(cpuOverFloor)],
    ['Memory per connection', 'kB', ({ result }) => short(measures[1].of(result))],
    ['Set-up CPU', 'µs', ({ result }) => short(result.server?.cpuUsPerConnection)],
    ['Handshakes', '1/s', ({ result }) => rounded(result.handshakesPerSecond)],
    ['Connect p99', 'ms', ({ result }) => short(result.connect?.p99Us / 1000)],
    ['Answer p99', 'ms', ({ result }) => short(result.publishAnswer?.p99Us / 1000)],
    ['Server', 'cores', ({ result }) => result.server?.cores.toFixed(2)],
    ['Redis', 'cores', ({ result }) => result.redisCores?.toFixed(2)],
    ['Tool', 'cores', ({ result }) => result.toolCores?.toFixed(2)],
    ['Stolen', '%', ({ result }) => result.stolenPercent?.toFixed(1)],
    ...[['Twice', 'duplicates'], ['Reordered', 'reordered'], ['Refused', 'refused'],
      ['Refused clients', 'refusedClients']].map(([name, member]) =>
      [name, '', ({ result }) => result[member] > 0 && node('span', { class: 'lost' }, whole(result[member]))]),
  ].map(([name, unit, cell]) => ({ name, unit, cells: group.runs.map(cell) }))
    .filter(({ cells }) => cells.some((cell) => cell && cell !== '–'));
  const subject = subjectOf(group);
  const rows = group.runs.map((run, index) => node('tr', { class: run === subject ? 'subject' : undefined },
    node('th', { scope: 'row' }, node('i', { class: `fill ${shade(run)}` }), shown(run),
      run.result.passed ? '' : node('span', { class: 'lost' }, ' failed')),
    columns.map(({ cells }) => node('td', {}, cells[index] || '–'))));
  const head = columns.map(({ name, unit }) => node('th', { scope: 'col' }, name, node('small', {}, unit)));
  return node('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Figures' },
    node('table', {},
      node('thead', {}, node('tr', {}, node('th', { scope: 'col' }, 'Target'), head)), node('tbody', {}, rows)));
}

/** The share of latencies that do not exceed each bucket, from the median to four nines. */
function curve({ buckets, count, maxUs }) {
  const points = [];
  let seen = 0;
  let last = null;
  for (const [end, number] of buckets) {
    seen += number;
    const point = { x: Math.min(seen / count, 0.9999), y: Math.max(Math.min(end, maxUs), 1) };
    if (point.x >= 0.5) {
      if (points.length === 0) points.push({ x: 0.5, y: point.y });
      if (point.x > points.at(-1).x) points.push(point);
    }
    last = point;
    if (seen / count >= 0.9999) break;
  }
  return points.length > 0 || last === null ? points : [last];
}

const percent = (share) => `${+(share * 100).toFixed(share < 0.99 ? 1 : share < 0.999 ? 2 : 3)} %`;

function curveOf(group, member, title) {
  return lineFigure({
    title, note: 'percentile by time, both log scales; lower is better',
    series: group.runs.filter(({ result }) => result[member]?.count > 0)
      .map((run) => ({ name: shown(run), shade: shade(run), points: curve(run.result[member]) })),
    x: {
      kind: 'nines', ticks: [0.5, 0.9, 0.99, 0.999, 0.9999], tick: percent,
      text: (share) => `${percent(share)} within`,
    },
    y: { kind: 'log', tick: latencyTick, text: latency },
  });
}

/** A member of each second of a run. */
function timeOf(group, title, note, member, y) {
  return lineFigure({
    title, note, y, height: 220,
    series: group.runs.map((run) => ({
      name: shown(run), shade: shade(run),
      points: run.result.series.map((second) => ({ x: second.second, y: second[member] }))
        .filter((point) => Number.isFinite(point.y) && (y.kind !== 'log' || point.y > 0)),
    })).filter(({ points }) => points.length > 1),
    x: { kind: 'linear', tick: (second) => `${tick(second)} s`, text: (second) => `${short(second)} s` },
  });
}

function plots(group, isAlone) {
  const cores = { kind: 'linear', tick, text: (value) => `${value.toFixed(2)} cores` };
  const rate = { kind: 'linear', tick, text: (value) => `${rounded(value)}/s` };
  const has = (member) => group.runs.some(({ result }) => result.series.some((second) => second[member] > 0));
  const bars = measures.slice(isAlone ? 0 : 1)
    .filter((measure) => measure.title !== 'Acknowledged' || group.runs.length > 1);
  return [
    ...bars.map((measure) => barsOf(group, measure)),
    curveOf(group, 'latency', 'Latency'),
    has('delivered') ? timeOf(group, 'Deliveries over time', 'per second, from zero', 'delivered', rate) : null,
    timeOf(group, 'p99 over time', 'of each second; log scale; lower is better', 'p99Us',
      { kind: 'log', tick: latencyTick, text: latency }),
    timeOf(group, 'Server CPU over time', 'cores kept busy', 'serverCores', cores),
    timeOf(group, 'Tool CPU over time', 'cores; near its limit it is the tool that was measured', 'toolCores', cores),
    curveOf(group, 'connect', 'Time to connect'),
    curveOf(group, 'publishAnswer', 'Time to a publish’s answer'),
  ].filter(Boolean);
}

function notes(group) {
  const items = group.runs.flatMap((run) => run.result.notes.map((note) =>
    node('li', { class: run.result.passed ? undefined : 'lost' }, `${shown(run)}: ${note}`)));
  const settings = group.runs.map((run) => {
    const flags = Object.entries(run.result.settings).sort().map(([flag, value]) => `--${flag} ${value}`).join('  ');
    const facts = [run.kindVersion, run.result.startedAt, run.result.commit && `commit ${run.result.commit}`];
    return [node('dt', {}, shown(run)), node('dd', {}, [...facts, flags].filter(Boolean).join(' · '))];
  });
  return [items.length > 0 ? node('ul', { class: 'notes' }, items) : null,
    node('details', {}, node('summary', {}, 'Versions and settings'), node('dl', {}, settings))];
}

const legend = (runs) => node('ul', { class: 'legend' }, runs.map((run) => node('li', {},
  shape('svg', { width: 30, height: 8, 'aria-hidden': 'true' },
    shape('line', { class: `line ${shade(run)}`, x1: 1, x2: 29, y1: 4, y2: 4 })),
  node('span', {}, shown(run)), lossOf(run) ? node('span', { class: 'lost' }, lossOf(run)) : null)));

function panel(group, isAlone) {
  const [remarks, settings] = notes(group);
  return node('div', { class: 'panel' }, node('h3', {}, group.title || 'Without settings'), table(group), remarks,
    group.runs.length > 1 ? legend(group.runs) : null,
    node('div', { class: 'plots' }, plots(group, isAlone)), settings);
}

// A family: the groups of one scenario that differ by their rate alone.

/** What a figure becomes as the rate grows. */
function againstRate(family, title, note, value, y) {
  const runs = [...new Map(family.flatMap((group) => group.runs).map((run) => [run.name, run])).values()];
  const points = (name) => family.flatMap((group) => group.runs.filter((run) => run.name === name).map((run) =>
    ({ x: rateOf(group), y: value(run), bad: lossOf(run) !== '' }))).filter((point) => point.y > 0);
  const rates = family.map(rateOf);
  return lineFigure({
    title, note, y, dots: true,
    series: runs.map((run) => ({ name: shown(run), shade: shade(run), points: points(run.name) })),
    x: { kind: 'log', ticks: rates, tick: (rate) => `${whole(rate)}/s`, text: (rate) => `${whole(rate)} publishes/s` },
  });
}

function overview(family) {
  const cpu = measures[0];
  const most = Math.max(...family.flatMap((group) => group.runs.map((run) => cpu.of(run.result) ?? 0)));
  const bars = family.map((group) => barsOf(group, cpu, `${whole(rateOf(group))}/s`, most)).filter(Boolean);
  const names = [...new Map(family.flatMap((group) => group.runs).map((run) => [run.name, run])).values()];
  const lossless = names.map((run) => ({ ...run, result: { ...run.result, lost: 0, passed: true } }));
  return [
    bars.length > 0 ? node('h3', {}, 'CPU of the server for one delivery') : null,
    node('div', { class: 'plots small' }, bars),
    legend(lossless),
    node('div', { class: 'plots' },
      againstRate(family, 'p99 latency against rate', 'log scales; lower is better; a red cross: deliveries were lost',
        ({ result }) => result.latency?.p99Us, { kind: 'log', tick: latencyTick, text: latency }),
      againstRate(family, 'Deliveries against rate', 'per second, log scales; a red cross: deliveries were lost',
        ({ result }) => result.deliveriesPerSecond, { kind: 'log', tick, text: (value) => `${rounded(value)}/s` }),
      againstRate(family, 'CPU per delivery as a multiple of the floor’s', 'log scales; lower is better',
        ({ cpuOverFloor }) => cpuOverFloor,
        { kind: 'log', tick: (value) => `${tick(value)} ×`, text: (value) => `${short(value)} ×` })),
  ];
}

function tabbed(family) {
  const panels = family.map((group) =>
    filled(panel(group, false), { role: 'tabpanel', 'aria-label': briefly(group) }, []));
  const buttons = family.map((group, index) => {
    const isWrong = group.runs.some((run) => lossOf(run));
    const button = node('button', { type: 'button', role: 'tab' }, `${whole(rateOf(group))}/s`,
      isWrong ? node('span', { class: 'lost' }, ' · losses') : null);
    button.addEventListener('click', () => select(index));
    button.addEventListener('keydown', (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (move === undefined) return;
      select((index + move + family.length) % family.length);
      buttons[(index + move + family.length) % family.length].focus();
    });
    return button;
  });
  const select = (chosen) => panels.forEach((each, index) => {
    each.hidden = index !== chosen;
    buttons[index].setAttribute('aria-selected', String(index === chosen));
    buttons[index].tabIndex = index === chosen ? 0 : -1;
  });
  select(0);
  const list = node('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Rate' }, buttons);
  return [list, panels];
}

function families() {
  const all = new Map();
  for (const group of groups) {
    const { rate, ...rest } = group.load;
    const key = JSON.stringify([group.scenario, Object.entries(rest).sort(), Number(rate) > 0]);
    all.set(key, [...(all.get(key) ?? []), group]);
  }
  return [...all.values()].map((family) => family.sort((one, other) => rateOf(one) - rateOf(other)));
}

function section(family) {
  const [title, text] = scenarios[family[0].scenario] ?? [family[0].scenario, ''];
  return node('section', {}, node('header', {}, node('h2', {}, title), node('p', {}, text)),
    family.length > 1 ? [node('div', {}, overview(family)), tabbed(family)] : panel(family[0], true));
}

function facts() {
  const dl = ({ machine, commit, startedAt, runs }) => node('dl', {}, [
    ['Processor', `${machine.processor}, ${machine.cores} ${machine.cores === 1 ? 'core' : 'cores'}`],
    ['Memory', `${short(machine.memoryBytes / 2 ** 30)} GiB`], ['System', machine.system], ['Kernel', machine.kernel],
    ['TLS', machine.openssl], ['Commit', commit ?? 'unknown'], ['Begun', startedAt], ['Runs', whole(runs)],
  ].map(([term, text]) => [node('dt', {}, term), node('dd', {}, text)]));
  return node('section', {}, node('header', {}, node('h2', {}, 'How it was measured')), node('div', { class: 'facts' },
    node('div', {}, node('h3', {}, 'Machine'), sources.map(dl)),
    node('div', {}, node('h3', {}, 'Reading the figures'), [
      'Latency counts from the moment a publish was due, not from when it could be sent: a server that stalls pays for '
      + 'everything that waited. Percentiles come from one histogram of all deliveries; none is a mean of percentiles.',
      'CPU is what the kernel charged the server’s processes while it was measured, divided by the deliveries. '
      + 'A delivery is lost when it never came, by the sequence numbers in the messages.',
      'A delivery that was lost has no latency: where some were lost, the curve is of the others only.',
      'When the tool’s own cores near what it had, it is the tool that was measured, and the server may do better.',
    ].map((text) => node('p', {}, text)))));
}

const [title, lead] = headline();
document.title = title;
const eyebrow = ['Load test', sources[0]?.startedAt.slice(0, 10), sources[0]?.commit && `commit ${sources[0].commit}`];
document.getElementById('page').replaceChildren(
  node('p', { class: 'eyebrow' }, eyebrow.filter(Boolean).join(' · ')),
  node('h1', {}, title), lead ? node('p', { class: 'lead' }, lead) : '',
  ...[cards(), wrong(), ...families().map(section), facts()].filter(Boolean));

// On paper all panels are shown; a hidden one has no width, so its plots are drawn now.
const hiddenPanels = [];
addEventListener('beforeprint', () => {
  hiddenPanels.push(...document.querySelectorAll('.panel[hidden]'));
  for (const each of hiddenPanels) each.hidden = false;
  for (const box of document.querySelectorAll('figure')) box.redraw();
});
addEventListener('afterprint', () => {
  for (const each of hiddenPanels.splice(0)) each.hidden = true;
});
