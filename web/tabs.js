// The tabs: which app is seen. The address has its name behind `#`, so that a link opens it.
import { element, say } from '/dom.js';

export class Tabs {
  /** By the name in the address: {tab, name, place, start, isStarted}. The first is shown unless another is asked. */
  #apps = new Map();
  #shown = null;
  #onShow;

  /** `onShow` is told the name of each tab that is shown. */
  constructor(apps, onShow = () => {}) {
    this.#onShow = onShow;
    for (const app of apps) this.#apps.set(app.tab, { ...app, isStarted: false });
    element('tabs').addEventListener('keydown', (event) => this.#key(event));
    addEventListener('hashchange', () => this.#show(asked()));
    this.#show(this.#apps.has(asked()) ? asked() : apps[0].tab);
  }

  /** Shows an app; a name that is none, such as that of the skip link, changes nothing. */
  #show(wanted) {
    const app = this.#apps.get(wanted);
    if (app === undefined || wanted === this.#shown) return;
    const isFirst = this.#shown === null;
    this.#shown = wanted;
    for (const tab of this.#apps.keys()) {
      const isShown = tab === wanted;
      element(`app-${tab}`).hidden = !isShown;
      element(`tab-${tab}`).setAttribute('aria-selected', String(isShown));
      element(`tab-${tab}`).tabIndex = isShown ? 0 : -1;
    }
    document.body.dataset.app = wanted;
    document.title = `${app.name}, live: Switchboard`;
    say('app-name', app.name);
    say('skip', `Skip to ${app.place}`);
    if (!isFirst) scrollTo(0, 0);
    if (!app.isStarted) {
      app.isStarted = true;
      app.start();
    }
    this.#onShow(wanted);
  }

  /** The arrows go from tab to tab, as in any list of tabs. */
  #key(event) {
    const tabs = [...this.#apps.keys()];
    const at = tabs.indexOf(this.#shown);
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 };
    const next = event.key === ' ' ? tabs.find((tab) => element(`tab-${tab}`) === event.target) : tabs[
      steps[event.key] % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    location.hash = next;
    // `hashchange` comes later, perhaps after the next key.
    this.#show(next);
    element(`tab-${next}`).focus();
  }
}

/** The app that the address asks for; what follows a slash is the app's own. */
const asked = () => location.hash.slice(1).split('/')[0];

/** What the address says to an app behind its name; '' for nothing, and for what is no text. */
export function askedFor(tab) {
  const [name, rest = ''] = location.hash.slice(1).split('/');
  try {
    return name === tab ? decodeURIComponent(rest) : '';
  } catch {
    return '';
  }
}
