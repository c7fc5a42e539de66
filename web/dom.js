// What every panel needs of the document.

export const element = (id) => document.getElementById(id);

/** Makes an element of text and elements; text is never read as markup. */
export function make(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

/** Sets a text, and leaves the document alone when it is there already. */
export function say(target, text) {
  const node = typeof target === 'string' ? element(target) : target;
  const wanted = String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

export const isMotionWelcome = () => matchMedia('(prefers-reduced-motion: no-preference)').matches;

/** A whole number of at most `max`, or null: what comes from outside is checked where it is shown. */
export const count = (value, max = 1e9) =>
  (Number.isFinite(value) && Math.abs(value) <= max ? Math.round(value) : null);

export const text = (value, max = 200) => (typeof value === 'string' ? value.slice(0, max) : '');

/** How a user is called: the shop's own people have names for ids. */
export function nameOf(userId, ownId) {
  if (userId === ownId && ownId !== null) return 'You';
  const id = text(userId, 128);
  return /^[a-z]+$/.test(id) ? id.charAt(0).toUpperCase() + id.slice(1) : id;
}

/**
 * Brings the children of a list into an order, and moves all others around the one that holds the focus: an element
 * that is moved loses it. Those that change their place glide there, where motion is welcome.
 */
export function arrange(list, rows) {
  const before = new Map();
  if (isMotionWelcome()) for (const row of list.children) before.set(row, row.getBoundingClientRect().top);
  const wanted = new Set(rows);
  for (const row of [...list.children]) if (!wanted.has(row)) row.remove();
  const anchor = rows.findIndex((row) => row.contains(document.activeElement));
  const fixed = anchor < 0 ? null : rows[anchor];
  let next = fixed;
  for (let index = anchor - 1; index >= 0; index -= 1) {
    const row = rows[index];
    if (row.nextElementSibling !== next || row.parentElement !== list) list.insertBefore(row, next);
    next = row;
  }
  let previous = fixed;
  for (let index = anchor + 1; index < rows.length; index += 1) {
    const place = previous === null ? list.firstElementChild : previous.nextElementSibling;
    if (place !== rows[index]) list.insertBefore(rows[index], place);
    previous = rows[index];
  }
  for (const row of rows) {
    const from = before.get(row);
    if (from === undefined) continue;
    const distance = from - row.getBoundingClientRect().top;
    if (Math.abs(distance) < 1) continue;
    const glide = [{ transform: `translateY(${distance}px)` }, { transform: 'none' }];
    row.animate(glide, { duration: 280, easing: 'ease-out' });
  }
}

/** A colour of its own for each id: there are no pictures to load. */
export function colour(art, id) {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.codePointAt(0)) % 9_973;
  // The golden angle keeps neighbours apart.
  art.style.setProperty('--hue', String(Math.round((sum * 137.5) % 360)));
}
