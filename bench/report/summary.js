// The top of the page: the sentence, the cards, and everything that went wrong.

function headline() {
  const wanted = groups.filter((group) => group.scenario === 'fanout')
    .sort((one, other) => rateOf(one) - rateOf(other));
  for (const group of wanted) {
    const subject = subjectOf(group);
    if (Number.isFinite(subject.cpuOverFloor) && subject.kind !== 'floor') {
      return [`${shown(subject)} ${subject.cpuOverFloor.toFixed(2)}\u00a0× the floor${atRate(group)}`,
        'CPU per delivery, next to a bare loop in C that does nothing but write to each socket over TLS: '
        + 'what this machine allows.'];
    }
  }
  const all = [...new Set(groups.flatMap((group) => group.runs.map(shown)))];
  return [all.length > 0 ? `${all.slice(0, 4).join(', ')} under load` : 'No runs', ''];
}

const card = (value, unit, text, isBad = false) => node('div', { class: isBad ? 'card bad' : 'card' },
  node('b', {}, value, node('small', {}, unit)), node('span', {}, text));

function cards() {
  const out = [];
  const fanouts = groups.filter((group) => group.scenario === 'fanout')
    .sort((one, other) => rateOf(one) - rateOf(other));
  for (const group of fanouts.filter((group) => Number.isFinite(subjectOf(group).cpuOverFloor)).slice(0, 2)) {
    const subject = subjectOf(group);
    if (subject.kind === 'floor') continue;
    const text = `the floor’s CPU per delivery${atRate(group)}`;
    out.push(card(subject.cpuOverFloor.toFixed(2), '×', text));
  }
  const most = groups.map((group) => [group, subjectOf(group)])
    .filter(([group, { kind, result }]) =>
      group.scenario === 'fanout' && kind !== 'floor' && result.deliveriesPerSecond > 0)
    .sort(([, one], [, other]) => other.result.deliveriesPerSecond - one.result.deliveriesPerSecond)[0];
  if (most) {
    const { result } = most[1];
    const p99 = result.latency ? `, p99 ${latency(result.latency.p99Us)}` : '';
    out.push(card(rounded(result.deliveriesPerSecond), '/s', `deliveries, the most in a run${p99}`));
  }
  for (const group of groups) {
    const subject = subjectOf(group);
    const memory = measures[1].of(subject.result);
    const base = floorOf(group)?.result.server?.cpuUsPerConnection;
    const setUp = subject.result.server?.cpuUsPerConnection;
    if (group.scenario !== 'idle') continue;
    if (memory) out.push(card(short(memory), 'kB', 'private memory per idle connection'));
    if (setUp && base && subject.kind !== 'floor') {
      out.push(card((setUp / base).toFixed(2), '×', 'the floor’s CPU to set up a connection'));
    }
    break;
  }
  const subjects = groups.map(subjectOf).filter(({ result }) => Number.isFinite(result.lost));
  if (subjects.length > 0) {
    const lost = subjects.reduce((sum, { result }) => sum + result.lost, 0);
    const expected = subjects.reduce((sum, { result }) => sum + (result.expected ?? 0), 0);
    const text = `of ${rounded(expected)} deliveries by ${shown(subjects[0])}`;
    out.push(card(lost > 0 ? rounded(lost) : 'None', 'lost', text, lost > 0));
  }
  return out.length > 0 ? node('div', { class: 'cards' }, out) : null;
}

/** Every loss and failure in words. */
function wrong() {
  const faults = groups.flatMap((group) => group.runs.filter((run) => lossOf(run)).map((run) => {
    const { lost, expected } = run.result;
    const share = expected > 0 ? ` ${short((lost / expected) * 100)} %:` : '';
    const of = expected > 0 ? ` of ${whole(expected)}` : '';
    const text = run.refusals ? `${run.refusals}: not counted`
      : lost > 0 ? `lost${share} ${whole(lost)}${of} deliveries` : 'failed';
    return node('li', {}, `${briefly(group)}: `, node('strong', {}, shown(run)), ' ',
      node('span', { class: 'lost' }, text));
  }));
  if (faults.length === 0) return null;
  const title = `${faults.length} ${faults.length === 1 ? 'run' : 'runs'} lost deliveries or failed`;
  const list = node('ul', {}, faults);
  return node('div', { class: 'wrong' }, node('h3', {}, title),
    faults.length <= 8 ? list : node('details', {}, node('summary', {}, 'Show them'), list));
}
