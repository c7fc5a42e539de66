// What every page of the inspector needs of the document.

export const element = (id) => document.getElementById(id);

/** Makes an element of text and elements; text is never read as markup. Attributes that are null are left out. */
export function make(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...content.filter((part) => part !== null));
  return made;
}

/** Makes an element of a drawing. */
export function draw(tag, attributes = {}, ...content) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

/** Sets a text, and leaves the document alone when it is there already: readers of screens would read it again. */
export function say(target, text) {
  const node = typeof target === 'string' ? element(target) : target;
  const wanted = String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

/** Shows a text in a place that is hidden while there is none. */
export function tell(target, text) {
  const node = typeof target === 'string' ? element(target) : target;
  say(node, text);
  node.hidden = text === '';
}

/** Brings the children of a list into an order, around the one that holds the focus: what is moved loses it. */
export function arrange(list, rows) {
  const wanted = new Set(rows);
  for (const row of [...list.children]) if (!wanted.has(row)) row.remove();
  const anchor = rows.findIndex((row) => row.contains(document.activeElement));
  let next = anchor < 0 ? null : rows[anchor];
  for (let index = anchor - 1; index >= 0; index -= 1) {
    if (rows[index].nextElementSibling !== next || rows[index].parentElement !== list) {
      list.insertBefore(rows[index], next);
    }
    next = rows[index];
  }
  let previous = anchor < 0 ? null : rows[anchor];
  for (let index = anchor + 1; index < rows.length; index += 1) {
    const place = previous === null ? list.firstElementChild : previous.nextElementSibling;
    if (place !== rows[index]) list.insertBefore(rows[index], place);
    previous = rows[index];
  }
}
