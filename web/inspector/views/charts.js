// Charts of the last fifteen minutes, drawn by this page.
import { draw, make, say, tell } from '/inspector/dom.js';
import { time } from '/inspector/format.js';
import { KEEP_MS, SERIES } from '/inspector/samples.js';

const [WIDTH, HEIGHT] = [600, 100];

class Chart {
  #series;
  #index;
  #now = make('p', { class: 'now' }, '–');
  #text = make('p', { class: 'visually-hidden' });
  #high = make('p', { class: 'muted' });
  #line = draw('path', { class: 'line' });
  #area = draw('path', { class: 'area' });

  constructor(series, index) {
    this.#series = series;
    this.#index = index;
    const grid = [0, 0.5, 1].map((share) => draw('line', { class: 'grid', x1: 0, x2: WIDTH, y1: share * HEIGHT,
      y2: share * HEIGHT }));
    // The figures beside it say the same to readers of screens.
    const size = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' };
    const drawing = draw('svg', { ...size, 'aria-hidden': 'true' }, ...grid, this.#area, this.#line);
    this.node = make('section', { class: 'card chart', 'aria-label': series.title },
      make('div', { class: 'between' }, make('h2', {}, series.title), this.#now), this.#high, drawing,
      make('p', { class: 'ends' }, make('span', {}, '15 minutes ago'), make('span', {}, 'now')), this.#text);
  }

  show(taken, nowMs) {
    const points = taken.map(({ atMs, values }) => [WIDTH * (1 - (nowMs - atMs) / KEEP_MS), values[this.#index]]);
    const known = points.map(([, value]) => value).filter(Number.isFinite);
    const top = Math.max(...known, 0);
    const unit = this.#series.unit;
    say(this.#now, known.length === 0 ? '–' : unit(points.at(-1)[1]));
    say(this.#high, known.length === 0 ? 'Nothing is known yet.' : `0 to ${unit(top)}`);
    say(this.#text, known.length === 0 ? ''
      : `Between ${unit(Math.min(...known))} and ${unit(top)} since ${time(taken[0].atMs)}.`);
    const y = (value) => HEIGHT - (top > 0 ? value / top : 0) * (HEIGHT - 2) - 1;
    const runs = [];
    for (const [x, value] of points) {
      if (!Number.isFinite(value)) runs.push([]);
      else (runs.at(-1) ?? runs[runs.push([]) - 1]).push([x.toFixed(1), y(value).toFixed(1)]);
    }
    const drawn = runs.filter((run) => run.length > 0);
    this.#line.setAttribute('d', drawn.map((run) => `M${run.map((point) => point.join(' ')).join('L')}`).join(''));
    this.#area.setAttribute('d', drawn.map((run) =>
      `M${run[0][0]} ${HEIGHT}L${run.map((point) => point.join(' ')).join('L')}L${run.at(-1)[0]} ${HEIGHT}Z`).join(''));
  }
}

export function openCharts(content, _, app) {
  const problem = make('p', { class: 'notice red', role: 'alert', hidden: true });
  const charts = SERIES.map((series, index) => new Chart(series, index));
  content.append(problem, make('div', { class: 'charts' }, ...charts.map(({ node }) => node)));
  return {
    // The samples are taken beside the pages, every five seconds.
    next() {
      tell(problem, app.samples.failure === null ? '' : app.samples.failure.sentence ?? app.samples.failure.message);
      for (const chart of charts) chart.show(app.samples.taken, Date.now());
      return null;
    },
  };
}
