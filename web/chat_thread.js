// The conversation that is open: its messages, who reads and types, and the own words.
import { arrange, element, make, say, text } from '/dom.js';
import { follow, request } from '/follow.js';
import { Messages } from '/messages.js';
import { operationId } from '/switchboard.js';

/** Least time between two words about typing, and how long one holds for who hears it. */
const typingEveryMs = 2_000;
const typingHoldMs = 4_000;

const statusTexts = { sending: 'Sending', sent: 'Sent', delivered: 'Delivered', read: 'Read' };

export class ChatThread {
  #client;
  /** Follows the conversation no longer. */
  #leave = () => {};
  #messages = new Messages();
  #rows = new Map();
  #ownId = null;
  #others = [];
  #title = '';
  /** The other of a direct conversation: {online, lastSeen}. */
  #presence = null;
  #isBlocked = false;
  #typedAt = -typingEveryMs;
  #typingTimer = null;
  /** What was marked last: the time of a message, and how. */
  #marked = { delivered: 0, read: 0 };

  /** The conversation's id; null while none is open. */
  id = null;

  constructor(client) {
    this.#client = client;
    element('chat-compose').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
    element('chat-text').addEventListener('input', () => this.#typing());
    element('chat-older').addEventListener('click', () => this.#askOlder());
    element('chat-block').addEventListener('click', () => this.#toggleBlock());
    for (const type of ['visibilitychange', 'hashchange']) {
      (type === 'hashchange' ? window : document).addEventListener(type, () => this.#mark());
    }
  }

  /** Opens a conversation in the place of the one before; the one that was asked for gets the focus. */
  open(id, { ownId, others, title, isAsked = true }) {
    if (id === this.id) return element('chat-text').focus();
    this.close();
    [this.id, this.#ownId, this.#others, this.#title] = [id, ownId, others, title];
    element('chat-thread').hidden = false;
    element('chat-none').hidden = true;
    say('chat-title', title || others.join(', '));
    element('chat-block').hidden = others.length !== 1;
    this.#leave = follow(this.#client, `conversation:${id}`, {
      live: ({ recovered, state }) => recovered || this.#live(state),
      event: (name, data) => this.#event(name, data),
      refused: ({ message }) => say('chat-problem', message),
    });
    this.#askBlocks();
    this.#draw();
    if (isAsked) element('chat-text').focus();
  }

  /** Shows none. */
  close() {
    this.#leave();
    this.#leave = () => {};
    this.id = null;
    this.#messages = new Messages();
    this.#rows.clear();
    this.#presence = null;
    this.#marked = { delivered: 0, read: 0 };
    say('chat-problem', '');
    say('chat-typing', '');
    element('chat-messages').replaceChildren();
    element('chat-thread').hidden = true;
    element('chat-none').hidden = false;
  }

  /** Whether the other is blocked; told by another device of the guest, too. */
  blocked(userId, isBlocked) {
    if (this.#others.length !== 1 || this.#others[0] !== userId) return;
    this.#isBlocked = isBlocked;
    element('chat-block').setAttribute('aria-pressed', String(isBlocked));
    say('chat-block', isBlocked ? 'Unblock' : 'Block');
  }

  // What is heard.

  #live(state) {
    this.#messages.replace(state);
    const members = Array.isArray(state?.members) ? state.members : [];
    for (const member of members) this.#seen(member);
    this.#draw();
    this.#mark();
  }

  #event(name, data) {
    if (name === 'typing') return this.#typed(data);
    if (name === 'presence:changed') {
      this.#seen(data);
      return this.#draw();
    }
    const taken = this.#messages.take(name, data);
    if (taken === null) return this.#askNewest();
    if (taken === false) return;
    if (name === 'message:added') this.#typed({ userId: data.senderId, typing: false });
    this.#draw();
    this.#mark();
  }

  #seen({ userId, online, lastSeen }) {
    if (this.#others.length !== 1 || userId !== this.#others[0]) return;
    this.#presence = { isOnline: online === true, lastSeen: new Date(lastSeen ?? Number.NaN) };
  }

  #typed({ userId, typing }) {
    if (userId === this.#ownId) return;
    clearTimeout(this.#typingTimer);
    say('chat-typing', typing === false ? '' : `${text(userId, 128)} is typing`);
    this.#typingTimer = setTimeout(() => say('chat-typing', ''), typingHoldMs);
  }

  // What is asked.

  async #ask(command, more = {}) {
    const id = this.id;
    try {
      const answer = await request(this.#client, command, { conversationId: id, ...more });
      return id === this.id ? answer : null;
    } catch (error) {
      if (id === this.id) say('chat-problem', error.message);
      return null;
    }
  }

  async #askNewest() {
    const page = await this.#ask('messages');
    if (page === null) return;
    this.#messages.replace(page);
    this.#draw();
    this.#mark();
  }

  async #askOlder() {
    const page = await this.#ask('messages', { before: this.#messages.next });
    if (page === null) return;
    this.#messages.add(page);
    this.#draw();
  }

  /** Says how far the guest has read; a window that nobody looks at has only received. */
  #mark() {
    const newest = this.#messages.newestOf((senderId) => senderId !== this.#ownId);
    if (newest === null || this.id === null) return;
    const isSeen = document.visibilityState === 'visible' && document.body.dataset.app === 'chat';
    const kind = isSeen ? 'read' : 'delivered';
    if (newest.ms <= this.#marked[kind]) return;
    this.#marked[kind] = newest.ms;
    if (isSeen) this.#marked.delivered = newest.ms;
    this.#ask(kind, { upTo: newest.id });
  }

  #typing() {
    const now = performance.now();
    if (this.id === null || now - this.#typedAt < typingEveryMs) return;
    this.#typedAt = now;
    // Nobody needs to know that this was refused.
    request(this.#client, 'typing', { conversationId: this.id }).catch(() => {});
  }

  async #send() {
    const field = element('chat-text');
    const words = field.value.trim();
    if (words === '' || this.id === null) return;
    const id = `m-${operationId()}`;
    this.#messages.send(id, this.#ownId, words);
    field.value = '';
    this.#typedAt = -typingEveryMs;
    say('chat-problem', '');
    this.#draw();
    const messages = this.#messages;
    const told = await this.#ask('send_message', { id, text: words });
    messages.settle(id, told);
    if (messages !== this.#messages) return;
    // Words that were refused are put back, unless new ones stand there.
    if (told === null && field.value === '') field.value = words;
    this.#draw();
  }

  async #remove(id) {
    if (await this.#ask('remove_message', { id }) === null) return;
    this.#messages.take('message:removed', { id });
    this.#draw();
  }

  async #askBlocks() {
    const [other, ...more] = this.#others;
    if (more.length > 0) return;
    try {
      const { blocks } = await request(this.#client, 'blocks', {});
      this.blocked(other, Array.isArray(blocks) && blocks.includes(other));
    } catch {
      // The button then says what it said before.
    }
  }

  async #toggleBlock() {
    const [other] = this.#others;
    try {
      const { blocked } = await request(this.#client, this.#isBlocked ? 'unblock' : 'block', { other });
      this.blocked(other, blocked === true);
      say('chat-problem', '');
    } catch (error) {
      say('chat-problem', error.message);
    }
  }

  // Drawing.

  #draw() {
    const list = element('chat-messages');
    const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
    const shown = this.#messages.shown;
    arrange(list, shown.map((message) => this.#row(message)));
    const ids = new Set(shown.map(({ id }) => id));
    for (const id of [...this.#rows.keys()]) if (!ids.has(id)) this.#rows.delete(id);
    element('chat-older').hidden = this.#messages.next === null;
    element('chat-empty').hidden = shown.length > 0;
    say('chat-presence', presenceText(this.#presence));
    element('chat-presence').classList.toggle('online', this.#presence?.isOnline === true);
    if (isAtEnd) list.scrollTop = list.scrollHeight;
  }

  #row(message) {
    let row = this.#rows.get(message.id);
    if (row === undefined) {
      row = this.#makeRow(message);
      this.#rows.set(message.id, row);
    }
    const isOwn = message.senderId === this.#ownId;
    say(row.words, message.text);
    const at = message.ms === null ? '' : new Date(message.ms).toLocaleTimeString([], { hour12: false });
    const status = isOwn ? statusTexts[message.status] : '';
    say(row.about, [at, message.isChanged && 'changed', status].filter(Boolean).join(' · '));
    if (row.remove !== null) row.remove.hidden = message.ms === null;
    return row.item;
  }

  #makeRow({ id, senderId }) {
    const isOwn = senderId === this.#ownId;
    const words = make('p', { class: 'words' });
    const about = make('span', { class: 'about' });
    const item = make('li', { class: isOwn ? 'own' : 'other' },
      make('span', { class: this.#others.length > 1 && !isOwn ? 'by' : 'visually-hidden' },
        isOwn ? 'You: ' : `${text(senderId, 128)}: `), words, about);
    const remove = isOwn ? make('button', { type: 'button', class: 'quiet' }, 'Delete') : null;
    if (remove !== null) {
      remove.addEventListener('click', () => this.#remove(id));
      item.append(remove);
    }
    return { item, words, about, remove };
  }
}

function presenceText(presence) {
  if (presence === null) return '';
  if (presence.isOnline) return 'Online';
  if (Number.isNaN(presence.lastSeen.getTime())) return '';
  return `Last seen ${presence.lastSeen.toLocaleTimeString([], { hour12: false })}`;
}
