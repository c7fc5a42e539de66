// The challenge's leaderboard: its first ten, and where this guest stands.
import { arrange, count, element, make, nameOf, say, text } from '/dom.js';
import { follow, request } from '/follow.js';

const shownMax = 10;

export class Leaderboard {
  #client;
  #challengeId;
  #activity;
  #ownId = null;
  /** userId -> {rank, score}: the first hundred. */
  #places = new Map();
  #own = null;
  #rows = new Map();

  constructor(client, challengeId, activity) {
    this.#client = client;
    this.#challengeId = challengeId;
    this.#activity = activity;
    follow(client, `challenge:${challengeId}`, {
      live: ({ recovered, state }) => {
        element('leaderboard').setAttribute('aria-busy', 'false');
        if (!recovered) this.#replace(state?.top);
        this.#askOwn();
      },
      event: (name, data) => {
        if (name === 'leaderboard:moves') this.#move(data);
        else activity.other(`challenge:${challengeId}`, name);
      },
      gap: (gap) => activity.gap('the leaderboard', gap),
      refused: ({ message }) => say('leaderboard-empty', message),
    });
  }

  /** Whose rank is shown as one's own. */
  identify(userId) {
    if (userId === this.#ownId) return;
    this.#ownId = userId;
    this.#own = null;
    this.#askOwn();
    this.#draw();
  }

  /** The guest's own new rank, from the user's topic. */
  updateOwn({ challengeId, rank, score }) {
    if (challengeId !== this.#challengeId) return;
    this.#own = place(rank, score);
    this.#draw();
    if (this.#own === null) return;
    this.#activity.add('points', `You are number ${this.#own.rank} with ${this.#own.score} points`);
  }

  async #askOwn() {
    if (this.#ownId === null) return;
    try {
      const question = { challengeId: this.#challengeId, userId: this.#ownId };
      const { rank, score } = await request(this.#client, 'rank', question);
      this.#own = place(rank, score);
      this.#draw();
    } catch {
      // The rank comes with the next move; without it the page says that there are no points yet.
    }
  }

  #replace(top) {
    this.#places.clear();
    for (const { userId, rank, score } of Array.isArray(top) ? top : []) this.#set(userId, place(rank, score));
    this.#draw();
  }

  #move({ moves, left }) {
    const first = this.#first()[0]?.userId;
    for (const userId of Array.isArray(left) ? left : []) this.#places.delete(userId);
    for (const { userId, rank, score } of Array.isArray(moves) ? moves : []) this.#set(userId, place(rank, score));
    this.#draw();
    const leader = this.#first()[0]?.userId;
    if (leader === undefined || leader === first) return;
    this.#activity.add('points', `${nameOf(leader, this.#ownId)} took the lead`);
  }

  #set(userId, standing) {
    if (typeof userId !== 'string' || standing === null) return;
    this.#places.set(userId, standing);
    if (userId === this.#ownId) this.#own = standing;
  }

  #first() {
    return [...this.#places].map(([userId, standing]) => ({ userId, ...standing }))
      .sort((one, other) => one.rank - other.rank).slice(0, shownMax);
  }

  #draw() {
    const first = this.#first();
    const best = Math.max(1, ...first.map(({ score }) => score));
    const rows = first.map((entry) => this.#row(entry, best));
    arrange(element('leaderboard-list'), rows);
    const shown = new Set(first.map(({ userId }) => userId));
    for (const userId of [...this.#rows.keys()]) if (!shown.has(userId)) this.#rows.delete(userId);
    element('leaderboard-empty').hidden = first.length > 0;
    if (this.#ownId === null) return say('leaderboard-own', '');
    say('leaderboard-own', this.#own === null
      ? 'You have no points yet: book a chair, and your haircut earns some.'
      : `You are number ${this.#own.rank} with ${this.#own.score} points.`);
  }

  #row({ userId, rank, score }, best) {
    let row = this.#rows.get(userId);
    if (row === undefined) {
      const name = make('span', { class: 'name' });
      const bar = make('span', { class: 'bar', 'aria-hidden': 'true' });
      row = make('li', {}, make('span', { class: 'rank' }), name, make('span', { class: 'score' }), bar);
      this.#rows.set(userId, row);
    }
    const [rankNode, nameNode, scoreNode, bar] = row.children;
    row.classList.toggle('own', userId === this.#ownId);
    say(rankNode, rank);
    say(nameNode, nameOf(text(userId, 128), this.#ownId));
    say(scoreNode, score);
    bar.style.setProperty('--share', String(Math.max(0, Math.min(1, score / best))));
    return row;
  }
}

/** A standing, or null: who is on no board has rank -1. */
function place(rank, score) {
  const [checkedRank, checkedScore] = [count(rank), count(score, Number.MAX_SAFE_INTEGER)];
  if (checkedRank === null || checkedRank < 1 || checkedScore === null) return null;
  return { rank: checkedRank, score: checkedScore };
}
