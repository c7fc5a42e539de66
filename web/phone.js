// A locked phone: what was pushed to this window's guest, whose app is closed.
import { arrange, count, element, make, say, text } from '/dom.js';
import { stored } from '/guest.js';
import { lookAtPhone } from '/handset.js';
import { fetchPeople } from '/people.js';

/** How often the phone is looked at, while somebody looks. */
const everyMs = 1_000;
const rows = new Map();

async function look() {
  if (document.visibilityState === 'visible') {
    try {
      draw(await lookAtPhone());
      say('phone-problem', '');
    } catch (error) {
      say('phone-problem', error.code === 'not_found' ? 'Nothing is pushed here: no courier runs.' : error.message);
    }
    const now = new Date();
    say('phone-time', now.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false }));
    say('phone-date', now.toLocaleDateString('en', { weekday: 'long', day: 'numeric', month: 'long' }));
  }
  setTimeout(look, everyMs);
}

function draw(phone) {
  const shown = (Array.isArray(phone?.notifications) ? phone.notifications : [])
    .filter(({ id, body }) => typeof id === 'string' && typeof body === 'string');
  arrange(element('phone-shown'), shown.map((notification) => row(notification)));
  const ids = new Set(shown.map(({ id }) => id));
  for (const id of [...rows.keys()]) if (!ids.has(id)) rows.delete(id);
  element('phone-empty').hidden = shown.length > 0;
  const badge = count(phone?.badge) ?? 0;
  element('phone-badge').hidden = badge <= 0;
  say('phone-badge-count', badge);
}

/** A notification, as a link into the app; a newer push of the same id changes its words. */
function row({ id, title, body, senderId, timestampMs, silent }) {
  if (!rows.has(id)) {
    const parts = { title: make('strong'), at: make('time'), body: make('span', { class: 'words' }) };
    const link = make('a', { href: '/#chat' }, parts.title, ' ', parts.at, ' ', parts.body);
    rows.set(id, { ...parts, link, item: make('li', {}, link) });
  }
  const parts = rows.get(id);
  say(parts.title, text(title) || text(senderId, 128) || 'Message');
  say(parts.body, text(body, 300));
  const at = new Date(count(timestampMs, Number.MAX_SAFE_INTEGER) ?? 0);
  say(parts.at, at.toLocaleTimeString([], { hour12: false }) + (silent === true ? ', silently' : ''));
  // A conversation of two opens by the other's name.
  const isDirect = id.startsWith('c:') && text(title) === '' && text(senderId) !== '';
  parts.link.href = isDirect ? `/#chat/${encodeURIComponent(senderId)}` : id.startsWith('n:') ? '/#shop' : '/#chat';
  return parts.item;
}

look();
// Somebody writes to a guest who has closed the app, so that the phone has something to show.
const guest = stored();
if (guest !== null) fetchPeople('phone', guest.token);
