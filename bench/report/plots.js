'use strict';
// Plots of lines and bars as SVG, drawn anew for each width. All text goes through `textContent`: names and notes come
// from files, and nothing in them is ever read as markup.

// Taken from an element that the parser made, so that the file contains no address at all.
const svgSpace = document.getElementById('blank').namespaceURI;
const tip = document.getElementById('tip');

/** Adds attributes and children; a child that is no element is text. */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

const node = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const shape = (name, attributes = {}, ...children) =>
  filled(document.createElementNS(svgSpace, name), attributes, children);

// Numbers as people read them.

const whole = (number) => Math.round(number).toLocaleString('en-US');

/** Three significant digits. */
function short(number) {
  if (!Number.isFinite(number)) return '–';
  const size = Math.abs(number);
  if (size === 0) return '0';
  if (size < 0.0995) return number.toPrecision(2);
  if (size < 9.995) return number.toFixed(2);
  return size < 99.95 ? number.toFixed(1) : whole(number);
}

/** `1,600`, `12.3k`, `1.52M`. */
function rounded(number) {
  const size = Math.abs(number);
  if (!Number.isFinite(number)) return '–';
  if (size < 9999.5) return whole(number);
  return size < 999500 ? `${short(number / 1e3)}k` : `${short(number / 1e6)}M`;
}

/** `850 µs`, `1.25 ms`, `3.40 s`. */
function latency(us) {
  if (us < 1000) return `${whole(us)} µs`;
  return us < 1e6 ? `${short(us / 1e3)} ms` : `${short(us / 1e6)} s`;
}

/** The same for ticks, which are round: `2 ms`. */
function latencyTick(us) {
  const [value, unit] = us < 1000 ? [us, 'µs'] : us < 1e6 ? [us / 1e3, 'ms'] : [us / 1e6, 's'];
  return `${+value.toPrecision(3)} ${unit}`;
}

/** Of a round number. */
function tick(number) {
  if (number < 10000) return number < 1000 ? String(+number.toPrecision(6)) : whole(number);
  return number < 1e6 ? `${+(number / 1e3).toPrecision(3)}k` : `${+(number / 1e6).toPrecision(3)}M`;
}

// Axes: each is a function from value to pixel with its ticks.

const nines = (share) => -Math.log10(1 - share);

const transforms = {
  linear: { to: (value) => value, back: (value) => value },
  log: { to: (value) => Math.log10(value), back: (value) => 10 ** value },
  nines: { to: nines, back: (value) => 1 - 10 ** -value },
};

/** Round values over a range: 1, 2 or 5 times a power of ten apart. */
function linearTicks(from, to, count) {
  const raw = (to - from) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw) * power;
  const ticks = [];
  for (let value = Math.ceil(from / step) * step; value <= to + step / 1e6; value += step) ticks.push(value);
  return ticks;
}

function logTicks(from, to) {
  const factors = to / from > 3000 ? [1] : to / from > 30 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power += 1) {
    for (const factor of factors) ticks.push(factor * 10 ** power);
  }
  return ticks.filter((value) => value >= from * 0.999 && value <= to * 1.001);
}

/** The axis of some values on a stretch of pixels. */
function axis(kind, values, pixels, { ticks, count = 5 } = {}) {
  // A run of days has more values than a call takes arguments.
  let [low, high] = values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity]);
  if (kind === 'linear' && ticks === undefined) {
    low = Math.min(low, 0);
    // Up to the next tick, so that the highest value has a line above it.
    const steps = linearTicks(0, high || 1, count);
    high = Math.max(steps.at(-1) >= high ? steps.at(-1) : 2 * steps.at(-1) - (steps.at(-2) ?? 0), 1e-9);
  }
  if (kind === 'log' && ticks === undefined) [low, high] = [low * 0.85, high * 1.18];
  if (low === high) [low, high] = kind === 'log' ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const { to, back } = transforms[kind];
  const [from, until] = [to(low), to(high)];
  const place = (value) => pixels[0] + ((to(value) - from) / (until - from)) * (pixels[1] - pixels[0]);
  place.back = (pixel) => back(from + ((pixel - pixels[0]) / (pixels[1] - pixels[0])) * (until - from));
  place.ticks = ticks ?? (kind === 'log' ? logTicks(low, high) : linearTicks(low, high, count));
  place.ticks = place.ticks.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  return place;
}

// Plots.

/** A figure with title and what its axes are, which draws itself as wide as it is. */
function figure(title, note, draw) {
  const place = node('div', { class: 'plot' });
  const head = node('figcaption', {}, node('h4', {}, title), node('p', {}, note));
  const box = node('figure', {}, head, place);
  let last = 0;
  box.redraw = () => {
    const width = Math.floor(place.clientWidth);
    if (width < 50 || width === last) return;
    last = width;
    place.replaceChildren(draw(width));
  };
  new ResizeObserver(box.redraw).observe(place);
  return box;
}

/** Shows values beside a point of the screen. */
function showTip(x, y, title, rows) {
  tip.replaceChildren(
    node('strong', {}, title),
    ...rows.map(({ name, shade, text }) =>
      node('div', {}, node('i', { class: `fill ${shade}` }), node('span', {}, name), node('b', {}, text))));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, x + width + 24 > innerWidth ? x - width - 14 : x + 14)}px`;
  tip.style.top = `${Math.max(8, Math.min(y - height / 2, innerHeight - height - 8))}px`;
}

function hideTip() {
  tip.hidden = true;
}

addEventListener('keydown', (event) => {
  if (event.key === 'Escape') hideTip();
});
addEventListener('scroll', hideTip, { passive: true });

/** The point of a line that is nearest to a value of x. */
function nearest(points, x, to) {
  const far = (point) => Math.abs(to(point.x) - to(x));
  return points.reduce((best, point) => (far(point) < far(best) ? point : best));
}

/**
 * Lines: `series` of `{name, shade, points: [{x, y, bad}]}`; `x` and `y` are `{kind, tick, text, ticks}`; `dots` marks
 * each point, and one that is `bad` with a cross.
 */
function lineFigure({ title, note, series, x, y, dots = false, height = 260 }) {
  const drawn = series.filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return null;
  return figure(title, note, (width) => {
    const [left, right, top, bottom] = [58, 26, 10, 30];
    const all = drawn.flatMap(({ points }) => points);
    const across = axis(x.kind, all.map((point) => point.x), [left, width - right],
      { ticks: x.ticks, count: width / 80 });
    const up = axis(y.kind, all.map((point) => point.y), [height - bottom, top], { count: 5 });
    const svg = shape('svg', {
      width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: 'img', 'aria-roledescription': 'plot',
      'aria-label': `${title}, ${note}: ${drawn.map(({ name }) => name).join(', ')}. Arrow keys read the values.`,
    });
    for (const value of up.ticks) {
      const at = Math.round(up(value)) + 0.5;
      svg.append(shape('line', { class: value === 0 ? 'base' : 'grid', x1: left, x2: width - right, y1: at, y2: at }),
        shape('text', { class: 'tick', x: left - 8, y: at + 4, 'text-anchor': 'end' }, y.tick(value)));
    }
    let free = -Infinity;
    for (const value of across.ticks) {
      const [at, text] = [across(value), x.tick(value)];
      const half = text.length * 3.6;
      const end = at + half > width;
      svg.append(shape('line', { class: 'grid', x1: at, x2: at, y1: height - bottom, y2: height - bottom + 4 }));
      if (at - half < free) continue;
      free = at + half + 6;
      svg.append(shape('text',
        { class: 'tick', x: end ? width : at, y: height - 8, 'text-anchor': end ? 'end' : 'middle' }, text));
    }
    const cursor = shape('line', { class: 'cursor', y1: top, y2: height - bottom, visibility: 'hidden' });
    svg.append(cursor);
    // The first lines are the floor and who is measured against it: they lie above the others.
    for (const { shade, points } of [...drawn].reverse()) {
      const path = points.map((point, index) =>
        `${index === 0 ? 'M' : 'L'}${across(point.x).toFixed(1)} ${up(point.y).toFixed(1)}`).join('');
      svg.append(shape('path', { class: `line ${shade}`, d: path }));
      for (const point of dots || points.length === 1 ? points : []) {
        const [cx, cy] = [across(point.x), up(point.y)];
        svg.append(point.bad
          ? shape('path', { class: 'cross', d: `M${cx - 5} ${cy - 5}l10 10m0-10l-10 10` })
          : shape('circle', { class: `fill ${shade}`, cx, cy, r: 3.5 }));
      }
    }
    readable(svg, cursor, drawn, across, x, y, [left, width - right]);
    return svg;
  });
}

/** Lets pointer and arrow keys read the values of all lines at one x. */
function readable(svg, cursor, series, across, x, y, [from, until]) {
  const { to } = transforms[x.kind];
  const stops = [...new Set(series.flatMap(({ points }) => points.map((point) => point.x)))].sort((a, b) => a - b);
  let stop = -1;
  const read = (value, clientY) => {
    const box = svg.getBoundingClientRect();
    const at = nearest(stops.map((stop) => ({ x: stop })), value, to).x;
    cursor.setAttribute('x1', across(at));
    cursor.setAttribute('x2', across(at));
    cursor.setAttribute('visibility', 'visible');
    const rows = series.map(({ name, shade, points }) => ({ name, shade, point: nearest(points, at, to) }))
      .sort((one, other) => other.point.y - one.point.y)
      .map(({ name, shade, point }) => ({ name, shade, text: y.text(point.y) + (point.bad ? ' · lost some' : '') }));
    showTip(box.left + across(at), clientY ?? box.top + box.height / 2, x.text(at), rows);
    stop = stops.indexOf(at);
  };
  const end = () => {
    cursor.setAttribute('visibility', 'hidden');
    hideTip();
  };
  svg.addEventListener('pointermove', (event) => {
    const pixel = event.clientX - svg.getBoundingClientRect().left;
    read(across.back(Math.min(Math.max(pixel, from), until)), event.clientY);
  });
  svg.addEventListener('pointerleave', end);
  svg.addEventListener('blur', end);
  svg.addEventListener('keydown', (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const jump = Math.abs(move) === 1 ? move * Math.max(1, Math.round(stops.length / 40)) : move;
    read(stops[Math.min(Math.max(stop + jump, 0), stops.length - 1)]);
  });
}

/**
 * Bars from zero: `bars` of `{name, shade, value, text, remark, warning}`, with a line through all at `reference`
 * `{value, text}`; `most` is the scale's end, for figures that are compared with each other.
 */
function barFigure({ title, note, bars, reference, most }) {
  if (bars.length === 0) return null;
  return figure(title, note, (width) => {
    const [row, thick, foot] = [44, 10, reference ? 22 : 2];
    // A warning that does not fit beside name and value gets a line of its own; a name that does not fit is cut.
    let height = 0;
    const lines = bars.map(({ name, text, remark = '', warning = '' }) => {
      const room = width - 8.4 * (text.length + remark.length) - 20;
      const isBelow = warning !== '' && 8.4 * name.length + 7.4 * warning.length + 8 > room;
      const most = Math.max(Math.floor(room / 8.4), 3);
      const cut = name.length > most ? `${name.slice(0, most - 1)}…` : name;
      const line = { y: height + (isBelow ? 18 : 0), isBelow, name: cut };
      height = line.y + row;
      return line;
    });
    height += foot;
    const scale = (width - 2) / (most ?? Math.max(...bars.map(({ value }) => value), reference?.value ?? 0, 1e-9));
    const said = bars.map(({ name, text, remark, warning }) => [name, text, remark, warning].filter(Boolean).join(' '));
    const svg = shape('svg', {
      width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title}: ${said.join('; ')}`,
    });
    bars.forEach(({ name, shade, value, text, remark, warning }, index) => {
      const { y, isBelow } = lines[index];
      const top = y + 16 - (isBelow ? 18 : 0);
      const right = shape('text', { class: 'value', x: width, y: top, 'text-anchor': 'end' }, text);
      if (remark) right.append(shape('tspan', { class: 'remark', dx: 8 }, remark));
      const left = shape('text', { class: 'name', x: 0, y: top }, shape('title', {}, name), lines[index].name);
      const place = isBelow ? { x: 0, dy: 18 } : { dx: 8 };
      if (warning) left.append(shape('tspan', { class: 'lost', ...place }, warning));
      svg.append(shape('rect', { class: 'track', x: 0, y: y + 23, width, height: thick, rx: 2 }),
        shape('rect',
          { class: `fill ${shade}`, x: 0, y: y + 23, width: Math.max(value * scale, 2), height: thick, rx: 2 }),
        left, right);
    });
    if (reference) {
      const at = Math.min(Math.max(reference.value * scale, 1), width - 1);
      for (let index = 0; index < bars.length; index += 1) {
        const y = lines[index].y + 20;
        svg.append(shape('line', { class: 'reference', x1: at, x2: at, y1: y, y2: y + thick + 6 }));
      }
      const isRight = at > width * 0.6;
      svg.append(shape('text', {
        class: 'tick', x: isRight ? at + 1 : at - 1, y: height - 5, 'text-anchor': isRight ? 'end' : 'start',
      }, `▲ ${reference.text}`));
    }
    return svg;
  });
}
