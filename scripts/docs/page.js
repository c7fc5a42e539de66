// One page of many articles: shows the one that the address names, and searches all of them without asking anybody.

const articles = [...document.querySelectorAll("article")];
const links = [...document.querySelectorAll("nav a")];
const search = document.getElementById("search");
const results = document.getElementById("results");
const menu = document.getElementById("menu");
const pages = document.getElementById("pages");
const name = document.title;

// Pages

function show(moves = true) {
  const wanted = decodeURIComponent(location.hash.slice(1)) || "docs/README.md";
  const page = wanted.split("~")[0];
  const article = articles.find((one) => one.dataset.page === page) ?? articles[0];
  for (const one of articles) one.classList.toggle("open", one === article);
  for (const link of links) {
    if (link.getAttribute("href") === `#${article.dataset.page}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${article.querySelector("h1").textContent} - ${name}`;
  const place = document.getElementById(wanted) ?? article.querySelector("h1");
  if (place.tagName === "H1") scrollTo(0, 0);
  else place.scrollIntoView();
  if (moves) place.focus({ preventScroll: true });
  open(false);
}

function open(isOpen) {
  pages.classList.toggle("open", isOpen);
  menu.setAttribute("aria-expanded", isOpen);
}

menu.addEventListener("click", () => open(!pages.classList.contains("open")));
addEventListener("hashchange", () => show());
document.documentElement.classList.add("scripted");
show(false);

// Search

const STOP = new Set((
  "a an and are as at be by can cannot do does for from get gets has have how i if in into is it its my " +
  "no of on or our that the their them then there they this to use we what when where which who why " +
  "will with you your").split(" "));
// Other people's words for ours.
const SAME = {
  auth: "token", authentication: "token", login: "token", jwt: "token", room: "topic", channel: "topic", message:
  "event", emit: "publish", send: "publish", broadcast: "publish", server: "gateway", ha: "sentinel", failover:
  "sentinel", docker: "container", kubernetes: "container", compose: "container", k8s: "container", ios: "swift",
  iphone: "swift", android: "kotlin", sse: "stream", eventsource: "stream", online: "presence", typing:
  "presence", gdpr: "erasure", delete: "erasure", throttle: "rate", throttling: "rate", "429": "rate", lost:
  "gap", missing: "gap", missed: "gap", monitoring: "watch", prometheus: "watch", grafana: "watch", cors:
  "origin", certificate: "tls", ssl: "tls", plugin: "script", lua: "script", function: "command", rpc: "command",
  procedure: "command", cron: "later", schedule: "later", delay: "later", price: "cost", slow: "slow", latency:
  "slow", install: "deploy", setup: "deploy", quickstart: "start", tutorial: "start", reconnect: "resume",
  recover: "resume", history: "log", notification: "push", apns: "push", backup: "backing", timer: "later",
  delayed: "later", job: "later", alarm: "alert",
};

function stem(word) {
  return word.length > 4 ? word.replace(/(?:ies|y)$/, "i").replace(/(?:ing|ed|es|s|e)$/, "") : word.replace(/s$/, "");
}

function words(text) {
  return text.toLowerCase().match(/[a-z0-9]+(?:[.'_][a-z0-9]+)*/g) ?? [];
}

// Sections: the parts of the articles between headings, each with its words.
const sections = [], found = new Map();
for (const article of articles) {
  const title = article.querySelector("h1").textContent;
  let section = null;
  for (const element of article.children) {
    if (/^H[1-4]$/.test(element.tagName)) {
      section = { page: article.dataset.page, title, heading: element.textContent, place: element.id, text: "",
        length: 0 };
      sections.push(section);
    } else if (section) section.text += `${element.textContent} `;
  }
}
sections.forEach((section, number) => {
  const add = (text, weight) => {
    for (const word of words(text)) {
      // A file's ending is no word of its own, or every list of scripts would be about Lua.
      for (const part of new Set([word, ...word.replace(/\.(?:lua|md|swift|json|py|sh)$/, "").split(/[._']/)])) {
        if (STOP.has(part)) continue;
        const key = stem(part);
        if (!found.has(key)) found.set(key, new Map());
        found.get(key).set(number, (found.get(key).get(number) ?? 0) + weight);
        section.length += 1;
      }
    }
  };
  add(section.text, 1);
  add(section.heading, 6);
  add(section.title, 5);
  add(section.page.replace(/[^a-z]+/gi, " "), 3);
});
const mean = sections.reduce((sum, section) => sum + section.length, 0) / sections.length;
const RARELY_MEANT = /archive|CHANGELOG|benchmarks|bench\/|decisions|ARCHITECTURE|CONTRIBUTING/;

// How well each section fits a word: rare words count more, long sections less (Okapi BM25).
function fits(key, weight, scores) {
  const places = found.get(key);
  if (!places) return;
  const rarity = Math.log(1 + (sections.length - places.size + 0.5) / (places.size + 0.5));
  for (const [number, count] of places) {
    const part = weight * rarity * count * 2.2 / (count + 1.2 * (0.4 + 0.6 * sections[number].length / mean));
    scores.set(number, (scores.get(number) ?? 0) + part);
  }
}

// The best pages for a query, each with its best section.
function find(query) {
  const asked = words(query).filter((word) => !STOP.has(word));
  const totals = new Map();
  asked.forEach((word, index) => {
    const scores = new Map(), key = stem(word);
    fits(key, 1, scores);
    if (SAME[word]) fits(stem(SAME[word]), 0.9, scores);
    if (index === asked.length - 1 && word.length > 2) {  // it may still be typed
      for (const other of found.keys()) if (other !== key && other.startsWith(word)) fits(other, 0.3, scores);
    }
    for (const [number, score] of scores) {
      const [sum, count] = totals.get(number) ?? [0, 0];
      totals.set(number, [sum + score, count + 1]);
    }
  });
  const best = new Map();
  for (const [number, [sum, count]] of totals) {
    const section = sections[number];
    let score = sum * (count / asked.length) ** 1.5;
    if (RARELY_MEANT.test(section.page)) score *= 0.35;
    const one = best.get(section.page);
    if (!one || score > one.score) best.set(section.page, { section, score });
  }
  return [...best.values()].sort((a, b) => b.score - a.score).slice(0, 10).map(({ section }) => section);
}

function excerpt(section, query) {
  const asked = words(query).filter((word) => !STOP.has(word)).map(stem);
  const text = section.text.replace(/\s+/g, " ");
  const at = asked.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  const begin = at.length ? Math.max(0, Math.min(...at) - 40) : 0;
  return (begin ? "... " : "") + text.slice(begin, begin + 140) + (text.length > begin + 140 ? " ..." : "");
}

function entry(section, number, query) {
  const [item, link, small] = ["li", "a", "small"].map((kind) => document.createElement(kind));
  item.id = `result-${number}`;
  item.setAttribute("role", "option");
  link.href = `#${section.place}`;
  link.tabIndex = -1;
  link.dataset.page = section.page;
  const title = document.createElement("b");
  title.textContent = section.title;
  link.append(title, section.heading === section.title ? "" : ` › ${section.heading}`);
  small.textContent = excerpt(section, query);
  link.append(small);
  item.append(link);
  return item;
}

function select(number) {
  const items = [...results.querySelectorAll("[role=option]")];
  items.forEach((item, index) => item.setAttribute("aria-selected", index === number));
  if (items[number]) {
    items[number].scrollIntoView({ block: "nearest" });
    search.setAttribute("aria-activedescendant", items[number].id);
  } else search.removeAttribute("aria-activedescendant");
}

function selected() {
  const items = [...results.querySelectorAll("[role=option]")];
  return items.findIndex((item) => item.getAttribute("aria-selected") === "true");
}

function close() {
  results.hidden = true;
  search.setAttribute("aria-expanded", "false");
}

search.addEventListener("input", () => {
  const query = search.value.trim();
  if (!query) return close();
  const hits = find(query);
  const none = Object.assign(document.createElement("li"), { className: "none", textContent: "Nothing was found." });
  results.replaceChildren(...(hits.length ? hits.map((section, number) => entry(section, number, query)) : [none]));
  results.hidden = false;
  search.setAttribute("aria-expanded", "true");
  select(hits.length ? 0 : -1);
});

search.addEventListener("keydown", (event) => {
  const count = results.querySelectorAll("[role=option]").length;
  if (event.key === "Escape") {
    close();
    search.value = "";
  } else if (event.key === "ArrowDown" && count) select((selected() + 1) % count);
  else if (event.key === "ArrowUp" && count) select((selected() + count - 1) % count);
  else return;
  event.preventDefault();
});

search.form.addEventListener("submit", (event) => {
  event.preventDefault();
  results.querySelectorAll("[role=option] a")[selected()]?.click();
});

results.addEventListener("click", (event) => {
  if (event.target.closest("a")) {
    close();
    // The same place again is no change of the address.
    if (event.target.closest("a").hash === location.hash) show();
  }
});

addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});
addEventListener("click", (event) => { if (!event.target.closest("form")) close(); });
