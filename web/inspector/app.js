// The inspector: signs in, shows the page that the address names, and asks the gateway for its figures once a second.
import { Api, Failure } from '/inspector/api.js';
import { askAround } from '/inspector/around.js';
import { element, make, say, tell } from '/inspector/dom.js';
import { time } from '/inspector/format.js';
import { Nodes } from '/inspector/nodes.js';
import { GROUPS, PAGES } from '/inspector/pages.js';
import { Samples } from '/inspector/samples.js';

const EVERY_MS = 1_000;

class Inspector {
  #api = new Api();
  /** The page that is shown: what `open` of a page returns. */
  #view = null;
  #tick = 0;
  #timer = null;
  #isPaused = false;
  #lastAnswer = null;
  /** The faults of the page's requests, by their names: each stays until its request is answered. */
  #failures = new Map();
  #missing = new Map();
  /** Which of the page's answers lack rows that did not fit. */
  #cut = new Map();
  nodes = new Nodes();
  samples = new Samples(this.#api);

  constructor() {
    element('sign-in').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#signIn(element('key').value.trim());
    });
    element('sign-out').addEventListener('click', () => this.#signOut(''));
    element('pause').addEventListener('click', () => this.#pause(!this.#isPaused));
    element('skip').addEventListener('click', (event) => {
      event.preventDefault();
      element('main').focus();
    });
    addEventListener('hashchange', () => this.#open(true));
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.#soon(0);
    });
    this.#fillNav();
    if (this.#api.hasKey) this.#signIn(null);
    else askAround((key) => this.#signIn(key, false));
  }

  // Signing in

  /** Tries a key, or the one that this tab has kept. */
  async #signIn(key, isStored = true) {
    if (key !== null) this.#api.keep(key, isStored);
    say('sign-in-problem', '');
    try {
      const health = await this.#api.get('/v1/health');
      element('key').value = '';
      this.nodes.own = health.node;
      say('signed-in', `through ${health.node}`);
      this.#show(true);
      this.samples.start();
      this.#open(false);
    } catch (failure) {
      // A gateway that cannot be reached says nothing about the key.
      if (key !== null || failure.status === 401 || failure.status === 403) this.#api.forget();
      this.#signOut(failure.status === 401 ? 'The gateway does not know this key.' : failure.sentence);
    }
  }

  #signOut(problem) {
    if (problem === '') this.#api.forget();
    clearTimeout(this.#timer);
    this.samples.stop();
    this.#close();
    this.#show(false);
    say('sign-in-problem', problem);
    this.#pulse('off', 'Not signed in');
    document.title = 'Inspector: Switchboard';
    element('key').focus();
  }

  #show(isIn) {
    element('sign-in').hidden = isIn;
    for (const id of ['nav', 'view', 'controls']) element(id).hidden = !isIn;
  }

  // Pages

  #fillNav() {
    for (const [group, names] of GROUPS) {
      const links = names.map((name) => make('li', {}, make('a', { href: `#/${name}` }, PAGES[name].title)));
      element('nav').append(make('section', {}, make('h2', {}, group), make('ul', { 'aria-label': group }, ...links)));
    }
  }

  #open(isAsked) {
    if (element('view').hidden) return;
    const [name, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
    const page = PAGES[name] ?? PAGES.fleet;
    this.#close();
    const parameters = new URLSearchParams(query);
    this.#view = page.open(element('content'), parameters, this);
    const title = this.#view.title ?? page.title;
    say('title', title);
    say('about', page.about);
    document.title = `${title}: Switchboard inspector`;
    for (const link of element('nav').querySelectorAll('a')) {
      if (link.hash === `#/${page.of}`) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    this.#showInNav();
    if (isAsked && !this.#view.keepsFocus) {
      scrollTo(0, 0);
      element('title').focus({ preventScroll: true });
    }
    this.#soon(0);
  }

  /** On a phone the navigation is one row: it is scrolled to the link of the page. */
  #showInNav() {
    const nav = element('nav');
    const link = nav.querySelector('[aria-current]');
    if (link === null) return;
    const [row, place] = [nav.getBoundingClientRect(), link.getBoundingClientRect()];
    nav.scrollBy({ left: place.left + place.width / 2 - row.left - row.width / 2 });
  }

  #close() {
    this.#view?.close?.();
    this.#view = null;
    this.#tick = 0;
    this.#failures.clear();
    this.#missing.clear();
    this.#cut.clear();
    // A question belongs to the page that asked it.
    for (const dialog of document.querySelectorAll('dialog')) dialog.close();
    element('content').replaceChildren();
    for (const id of ['done', 'problem', 'unanswered']) tell(id, '');
  }

  // Figures

  #pause(isPaused) {
    this.#isPaused = isPaused;
    element('pause').setAttribute('aria-pressed', String(isPaused));
    if (isPaused) this.#pulse('off', `Paused at ${time(Date.now())}`);
    else this.#soon(0);
  }

  #soon(afterMs) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), afterMs);
  }

  /** Asks one question of the page, and plans the next. */
  async #ask() {
    const view = this.#view;
    if (view === null || (document.hidden && this.#tick > 0) || (this.#isPaused && this.#tick > 0)) return;
    const question = view.next?.(this.#tick) ?? null;
    this.#tick += 1;
    let waitMs = EVERY_MS;
    if (question !== null) {
      try {
        const answer = question.isText ? await this.#api.text(question.path) : await this.#api.get(question.path);
        if (view !== this.#view) return;
        view.show(question.name, answer);
        this.#answered(question.name, answer);
      } catch (failure) {
        if (view !== this.#view) return;
        if (!(failure instanceof Failure)) console.error(failure);
        if (failure.status === 401) return this.#signOut('The gateway does not know this key any more.');
        this.#failed(question.name, failure);
        waitMs = Math.max(EVERY_MS, (failure.retryAfterSeconds ?? 0) * 1_000);
      }
    }
    this.#soon(waitMs);
  }

  /** Asks anew at once, after an action. */
  refresh() {
    this.#tick = 0;
    this.#soon(0);
  }

  #answered(name, answer) {
    this.#lastAnswer = Date.now();
    this.#failures.delete(name);
    this.#missing.set(name, this.nodes.missing(answer ?? {}));
    this.#cut.set(name, answer?.truncated === true);
    this.#tellFaults();
    if (this.#failures.size > 0) return;
    if (!this.#isPaused) this.#pulse('live', `Live, ${time(this.#lastAnswer)}`);
  }

  #failed(name, failure) {
    const since = this.#failures.get(name)?.since ?? Date.now();
    this.#failures.set(name, { since, failure });
    this.#tellFaults();
    const last = this.#lastAnswer === null ? '' : `, figures of ${time(this.#lastAnswer)}`;
    this.#pulse('failed', `No answer since ${time(since)}${last}`);
  }

  #tellFaults() {
    tell('problem', [...this.#failures.values()].map(({ failure }) => failure.sentence ?? failure.message).join(' '));
    const missing = [...new Set([...this.#missing.values()].flat())];
    const sentences = [];
    if (missing.length > 0) {
      sentences.push(`Not in these figures, because no whole answer came in time: ${missing.join(', ')}.`);
    }
    if ([...this.#cut.values()].includes(true)) {
      sentences.push('Rows are missing, because those of a gateway did not fit into a message: narrow the question.');
    }
    tell('unanswered', sentences.join(' '));
  }

  #pulse(state, text) {
    element('pulse').dataset.state = state;
    say('pulse-text', text);
  }

  // For pages

  /** Sends an action; the promise ends with its answer, or with a Failure. */
  send(method, path, body) {
    return this.#api.send(method, path, body === undefined ? undefined : JSON.stringify(body));
  }

  get(path) { return this.#api.get(path); }

  /** Says what was done. */
  done(text) {
    tell('done', `${time(Date.now())}: ${text}`);
    this.refresh();
  }
}

new Inspector();
