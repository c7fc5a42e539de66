// The simulated people of `switchboard dev`. They learn which tab this guest looks at, and answer through the gateway.

/** People rest when nobody looks, so a page that is seen says so again. */
const everyMs = 60_000;
/** People who have just arrived open their session within seconds: until then the page asks again. */
const soonMs = 1_000;
const nobody = { people: [], session: '' };

export class People {
  #guest;
  #tab = '';
  #listeners = [];
  /** What was told last: {people: [userId], session: the join code of their session}; null before. */
  #told = null;
  #soon = 0;

  constructor(guest) {
    this.#guest = guest;
    guest.follow(() => this.#ask());
    setInterval(() => this.#ask(), everyMs);
    document.addEventListener('visibilitychange', () => this.#ask());
  }

  /** Tells the people that the guest looks at a tab. */
  visit(tab) {
    this.#tab = tab;
    this.#ask();
  }

  /** Tells who the people are: now if that is known, and after each visit. */
  follow(listener) {
    this.#listeners.push(listener);
    if (this.#told !== null) listener(this.#told);
  }

  async #ask() {
    // Without its gateway nobody answers; the next connection asks again.
    if (this.#tab === '' || !this.#guest.isConnected || document.visibilityState !== 'visible') return;
    this.#told = await fetchPeople(this.#tab, this.#guest.token);
    for (const listener of this.#listeners) listener(this.#told);
    clearTimeout(this.#soon);
    if (this.#told.people.length > 0 && this.#told.session === '') this.#soon = setTimeout(() => this.#ask(), soonMs);
  }
}

/** Asks who the people are, as somebody who looks at a tab, or at the phone. */
export async function fetchPeople(tab, token) {
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`/demo/people?tab=${encodeURIComponent(tab)}`, { headers, cache: 'no-store' });
    if (!response.ok) return nobody;
    const { people, session } = await response.json();
    return {
      people: (Array.isArray(people) ? people : []).filter((id) => typeof id === 'string'),
      session: typeof session === 'string' ? session : '',
    };
  } catch {
    return nobody;  // the tabs work without people, too
  }
}

/** A choice that this window keeps: to stay away from what the people have open. */
export const away = {
  is: (place) => {
    try {
      return sessionStorage.getItem(`switchboard.away.${place}`) === 'yes';
    } catch {
      return false;
    }
  },
  set: (place, isAway) => {
    try {
      if (isAway) sessionStorage.setItem(`switchboard.away.${place}`, 'yes');
      else sessionStorage.removeItem(`switchboard.away.${place}`);
    } catch {
      // Without storage a reload forgets the choice.
    }
  },
};
