// Conversations: whom the guest writes with, newest first, and the one that is open.
import { element, make, say, text } from '/dom.js';
import { ChatThread } from '/chat_thread.js';
import { PhonePanel } from '/device.js';
import { request } from '/follow.js';
import { askedFor } from '/tabs.js';

/** How often the list is asked for in a row while it changes; the next event tells of what is missed then. */
const listTries = 3;

export class ChatPanel {
  #client;
  #ownId = null;
  /** id -> {id, members, title, lastMessage, at, unread}. */
  #list = new Map();
  /** How many times the list was changed by an event. */
  #changes = 0;
  #thread;
  #phone;

  constructor(client, guest, own, people) {
    this.#client = client;
    this.#thread = new ChatThread(client);
    this.#phone = new PhonePanel(client, guest, own);
    element('chat-door').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#openWith(element('chat-with').value.trim());
    });
    addEventListener('hashchange', () => this.#openAsked());
    guest.follow((userId) => this.#identify(userId));
    people.follow(({ people: [first] }) => first !== undefined && this.#meet(first));
    own.listen({
      live: () => this.#askList(),
      event: (name, data) => this.#event(name, data),
      gap: () => this.#askList(),
    });
  }

  #identify(userId) {
    if (userId === this.#ownId) return;
    this.#ownId = userId;
    this.#list.clear();
    this.#thread.close();
    say('chat-own', userId);
    element('chat-invite').setAttribute('href', `/#chat/${encodeURIComponent(userId)}`);
    this.#draw();
    this.#openAsked();
  }

  /** A link may say with whom. */
  #openAsked() {
    const other = askedFor('chat');
    if (other !== '') this.#openWith(other);
  }

  #openWith(other) {
    const isRight = other !== '' && other !== this.#ownId;
    say('chat-door-problem', isRight ? '' : 'Name another guest.');
    if (!isRight) return;
    element('chat-with').value = '';
    // The id of a direct conversation is those of its two users, sorted.
    this.#open([this.#ownId, other].sort().join('_'), [this.#ownId, other]);
  }

  /** One of the people writes to every guest: that conversation is open at the first look. */
  #meet(first) {
    if (this.#thread.id !== null || this.#ownId === null || askedFor('chat') !== '') return;
    const members = [this.#ownId, first];
    this.#open([...members].sort().join('_'), members, '', false);
  }

  #open(id, members, title = '', isAsked = true) {
    const others = members.filter((user) => user !== this.#ownId);
    this.#thread.open(id, { ownId: this.#ownId, others, title, isAsked });
    this.#draw();
  }

  // The list.

  async #askList() {
    try {
      let changes;
      let left = listTries;
      // What is told while the list is asked for may be newer than the answer: then it is asked for again.
      do {
        changes = this.#changes;
        const { conversations } = await request(this.#client, 'conversations', {});
        this.#list.clear();
        for (const told of Array.isArray(conversations) ? conversations : []) this.#set(told);
        left -= 1;
      } while (changes !== this.#changes && left > 0);
      say('chat-list-problem', '');
      this.#phone.unread([...this.#list.values()]);
    } catch (error) {
      say('chat-list-problem', error.message);
    }
    this.#draw();
  }

  #event(name, data) {
    switch (name) {
      case 'conversation:updated':
        this.#changes += 1;
        this.#set(data);
        this.#phone.unread([...this.#list.values()]);
        return this.#draw();
      case 'conversation:removed':
        this.#changes += 1;
        this.#list.delete(data.id);
        return this.#draw();
      case 'block:changed':
        return this.#thread.blocked(data.userId, data.blocked === true);
    }
  }

  #set(told) {
    if (typeof told?.id !== 'string') return;
    // Who is in a group is told only when it has changed.
    const known = told.members === undefined ? this.#list.get(told.id)?.members : told.members;
    const members = (Array.isArray(known) ? known : []).filter((user) => typeof user === 'string');
    this.#list.set(told.id, {
      id: told.id, members, title: text(told.title, 100), lastMessage: text(told.lastMessage, 200),
      at: Date.parse(told.lastMessageTime) || 0, unread: Number.isInteger(told.unread) ? told.unread : 0,
    });
  }

  #draw() {
    const rows = [...this.#list.values()].sort((one, other) => other.at - one.at).map((chat) => this.#row(chat));
    element('chat-list').replaceChildren(...rows);
    element('chat-list-empty').hidden = rows.length > 0;
  }

  #row({ id, members, title, lastMessage, unread }) {
    const others = members.filter((user) => user !== this.#ownId);
    const name = title || others.join(', ') || id;
    const button = make('button', { type: 'button', 'aria-current': String(id === this.#thread.id) },
      make('span', { class: 'name' }, name), make('span', { class: 'last' }, lastMessage || 'No message yet'));
    if (unread > 0) {
      button.append(make('span', { class: 'unread' }, String(unread), make('span', { class: 'visually-hidden' },
        ' unread')));
    }
    button.addEventListener('click', () => this.#open(id, members, title));
    return make('li', {}, button);
  }
}
