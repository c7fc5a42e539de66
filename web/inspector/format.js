// Figures and times as people read them.

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** A whole number with separators; a dash for none. */
export const number = (value) => (Number.isFinite(value) ? numbers.format(value) : '–');

/** A number of which small ones keep two places. */
export const figure = (value) => (Math.abs(value) < 10 ? small.format(value) : number(value));

/** Bytes in the unit that fits. */
export function bytes(value) {
  if (!Number.isFinite(value)) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let [size, unit] = [value, 0];
  while (Math.abs(size) >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** Seconds as the two largest of days, hours, minutes and seconds. */
export function span(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  const whole = Math.max(0, Math.round(seconds));
  const of = (unit) => Math.floor(whole / unit);
  const [days, hours, minutes] = [of(86_400), of(3_600) % 24, of(60) % 60];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

/** Milliseconds in the unit that fits. */
export function milliseconds(value) {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 10_000) return span(value / 1000);
  return Math.abs(value) >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${figure(value)} ms`;
}

/** The time of day of an instant, with the day when it is not today's. */
export function time(value) {
  const at = new Date(value ?? NaN);
  if (Number.isNaN(at.getTime())) return '–';
  const clock = at.toLocaleTimeString('en-GB');
  return at.toDateString() === new Date().toDateString() ? clock
    : `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${clock}`;
}

/** A number of things: "1 session", "3 sessions". */
export const many = (count, one, several = `${one}s`) => `${number(count)} ${count === 1 ? one : several}`;

/** Says how many rows of all are shown; nothing when all are. */
export const shownOf = (rows, total) => (total > rows.length ? ` Shown are ${number(rows.length)}.` : '');

/** JSON on one line, cut where it gets long. */
export function brief(value, max = 160) {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? '';
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
