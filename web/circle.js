// Who is near, as one listener knows it. Pure: no page, no connection, no clock.
import { count, text } from '/dom.js';

/** Where the demo's city is: the middle of the map, in degrees. */
export const middle = { latitude: 52.52, longitude: 13.405 };
const degreeMetres = 111_195;

/** A place as metres east and north of the middle. */
export function metresOf({ latitude, longitude }) {
  return {
    east: (longitude - middle.longitude) * degreeMetres * Math.cos((middle.latitude * Math.PI) / 180),
    north: (latitude - middle.latitude) * degreeMetres,
  };
}

/** The place so many metres east and north of the middle. */
export function placeOf({ east, north }) {
  return {
    latitude: middle.latitude + north / degreeMetres,
    longitude: middle.longitude + east / (degreeMetres * Math.cos((middle.latitude * Math.PI) / 180)),
  };
}

export class Circle {
  /** id -> {id, name, track, place, distance}. */
  #listeners = new Map();

  /** Takes a whole answer. */
  replace(told) {
    this.#listeners.clear();
    for (const one of Array.isArray(told?.nearby) ? told.nearby : []) this.#set(one);
  }

  /** Takes an event; what happened as a sentence, '' for what is not worth one, null for an event of others. */
  take(event, told) {
    const known = this.#listeners.get(told?.id);
    switch (event) {
      case 'nearby:enter':
      case 'nearby:move':
        this.#set(told);
        return known === undefined && this.#listeners.has(told?.id) ? `${this.#nameOf(told.id)} is near` : '';
      case 'nearby:leave':
        this.#listeners.delete(told?.id);
        return known === undefined ? '' : `${known.name} is no longer near`;
      case 'nearby:track':
        if (known === undefined) return '';
        known.track = track(told.currentTrack);
        return known.track === '' ? `${known.name} stopped listening` : `${known.name} listens to ${known.track}`;
    }
    return null;
  }

  clear() {
    this.#listeners.clear();
  }

  /** The nearest first. */
  get shown() {
    return [...this.#listeners.values()].sort((one, other) => one.distance - other.distance);
  }

  #nameOf(id) {
    return this.#listeners.get(id).name;
  }

  #set(told) {
    if (typeof told?.id !== 'string') return;
    const { latitude, longitude } = told.user?.location ?? {};
    const isPlaced = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
    this.#listeners.set(told.id, {
      id: told.id, name: text(told.user?.displayName, 60) || told.id.slice(0, 60),
      track: track(told.user?.currentTrack), place: isPlaced ? { latitude, longitude } : null,
      distance: count(told.distance) ?? 0,
    });
  }
}

/** What a listener hears, in words; '' for nothing. */
function track(told) {
  if (typeof told?.name !== 'string' || told.isPlaying === false) return '';
  return [text(told.name, 100), text(told.artist, 100)].filter(Boolean).join(' by ');
}

/** A distance as it is read. */
export const distanceText = (metres) => (metres < 1_000 ? `${metres} m` : `${(metres / 1_000).toFixed(1)} km`);
