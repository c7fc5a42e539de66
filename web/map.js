// The map: a city that is drawn, not loaded. Its units are metres from the middle; north is up.
import { colour, element } from '/dom.js';

/** From the middle to each edge. */
export const edgeMetres = 1_500;
const svg = 'http://www.w3.org/2000/svg';
/** How far an arrow key goes. */
const stepMetres = 50;
/** A mark farther from the middle is shown here, whole. */
const markMetresMax = edgeMetres - 70;
/** A name farther to a side stands beside its mark, not across it. */
const nameMetresMax = 650;
/** The most characters of a name that are shown. */
const nameMax = 24;

export class CityMap {
  #onMove;
  #own = null;
  #isDragging = false;
  #others = new Map();

  /** `onMove` is told {east, north} while the guest is dragged, and `isOver` when that ends. */
  constructor(onMove) {
    this.#onMove = onMove;
    draw(element('nearby-city'));
    const map = element('nearby-map');
    map.addEventListener('pointerdown', (event) => {
      if (!event.isPrimary || event.button !== 0) return;
      map.setPointerCapture(event.pointerId);
      this.#isDragging = true;
      this.#move(this.#at(event), false);
    });
    map.addEventListener('pointermove', (event) => this.#isDragging && this.#move(this.#at(event), false));
    for (const type of ['pointerup', 'pointercancel']) map.addEventListener(type, () => this.#end());
    map.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Shows the guest at a place, with the size of the square that others see; null takes the guest off the map. */
  own(place, rounding) {
    this.#own = place;
    const node = element('nearby-own');
    node.toggleAttribute('hidden', place === null);
    if (place === null) return;
    put(node, place, 160, -90);
    const blur = node.querySelector('.blur');
    blur.setAttribute('r', String(rounding));
    blur.toggleAttribute('hidden', rounding === 0);
  }

  /** Shows the others: {id, name, at: {east, north}}. */
  others(listeners) {
    const seen = new Set();
    for (const { id, name, at } of listeners) {
      seen.add(id);
      if (!this.#others.has(id)) this.#others.set(id, marker(id, name));
      put(this.#others.get(id), at, -70, 150);
    }
    for (const [id, node] of this.#others) {
      if (seen.has(id)) continue;
      node.remove();
      this.#others.delete(id);
    }
  }

  #key(event) {
    const step = event.shiftKey ? stepMetres * 4 : stepMetres;
    const ways = { ArrowUp: [0, step], ArrowDown: [0, -step], ArrowLeft: [-step, 0], ArrowRight: [step, 0] };
    const way = ways[event.key];
    if (way === undefined) return;
    event.preventDefault();
    const from = this.#own ?? { east: 0, north: 0 };
    this.#move({ east: from.east + way[0], north: from.north + way[1] }, true);
  }

  #move(place, isOver) {
    this.#own = clamped(place);
    this.#onMove(this.#own, isOver);
  }

  #end() {
    if (!this.#isDragging) return;
    this.#isDragging = false;
    this.#onMove(this.#own, true);
  }

  /** Where a pointer is. */
  #at({ clientX, clientY }) {
    const box = element('nearby-map').getBoundingClientRect();
    return {
      east: ((clientX - box.left) / box.width - 0.5) * 2 * edgeMetres,
      north: (0.5 - (clientY - box.top) / box.height) * 2 * edgeMetres,
    };
  }
}

const within = (metres) => Math.max(-edgeMetres, Math.min(edgeMetres, metres));
const clamped = ({ east, north }) => ({ east: within(east), north: within(north) });

/** Puts a mark where all of it is seen; its name is at `y` below it, or at `otherwise` where that is off the map. */
function put(node, { east, north }, y, otherwise) {
  const seen = (metres) => Math.max(-markMetresMax, Math.min(markMetresMax, metres));
  const at = { east: seen(east), north: seen(north) };
  node.style.transform = `translate(${Math.round(at.east)}px, ${Math.round(-at.north)}px)`;
  const name = node.querySelector('text');
  name.setAttribute('text-anchor', Math.abs(at.east) < nameMetresMax ? 'middle' : at.east > 0 ? 'end' : 'start');
  name.setAttribute('y', String(Math.abs(y - at.north) < markMetresMax - 40 ? y : otherwise));
}

function shape(tag, attributes, parent) {
  const made = document.createElementNS(svg, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  parent.append(made);
  return made;
}

function marker(id, name) {
  const node = shape('g', { class: 'other' }, element('nearby-others'));
  colour(shape('circle', { class: 'mark', r: 45 }, node), id);
  shape('text', { y: -70, 'text-anchor': 'middle' }, node).textContent =
    name.length > nameMax ? `${name.slice(0, nameMax - 1)}…` : name;
  return node;
}

/** Streets, a river and a park: the same city in every window. */
function draw(city) {
  shape('rect', { class: 'park', x: -1_250, y: -1_150, width: 700, height: 520, rx: 60 }, city);
  shape('rect', { class: 'park', x: 620, y: 640, width: 480, height: 420, rx: 60 }, city);
  shape('path', { class: 'river', d: 'M-1600 470 C-1000 170 -500 620 0 330 S900 -40 1600 220' }, city);
  for (let street = -1_300; street <= 1_300; street += 260) {
    const kind = street === 0 ? 'street wide' : 'street';
    const bend = 60 * Math.sin(street / 300);
    shape('path', { class: kind, d: `M-1500 ${street} Q0 ${street + bend} 1500 ${street - bend}` }, city);
    shape('path', { class: kind, d: `M${street} -1500 Q${street - bend} 0 ${street + bend} 1500` }, city);
  }
  shape('path', { class: 'street wide', d: 'M-1800 1560 L1800 -1560' }, city);
}
