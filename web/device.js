// The guest's phone as the app sees it: registered for pushes, with what the guest wants to be pushed.
import { element, say } from '/dom.js';
import { request } from '/follow.js';
import { clearPhone, lookAtPhone, phoneToken } from '/handset.js';

const deviceId = 'page';
const words = ['on', 'urgent', 'off'];

export class PhonePanel {
  #client;
  /** What the guest wants, as the server told it; null until it did. */
  #rules = null;
  #isRegistered = false;
  /** Taken off by the guest; a reload registers it again, as apps do at each start. */
  #isOff = false;
  /** Of each conversation how much is unread; null until the server told it, and what the phone was told of it. */
  #unread = null;
  #told = '';

  constructor(client, guest, own) {
    this.#client = client;
    element('phone-rules').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#save();
    });
    element('phone-switch').addEventListener('click', () => this.#toggle());
    guest.follow(() => this.#begin());
    own.listen({
      event: (name, data) => name === 'preferences:changed' && this.#take({ ...this.#rules, ...data }),
    });
  }

  /** The app is open: what is read leaves the phone, and the badge is what is unread. */
  unread(conversations) {
    this.#unread = conversations;
    this.#tell();
  }

  #tell() {
    if (!this.#isRegistered || this.#unread === null) return;
    const badge = this.#unread.reduce((sum, { unread }) => sum + unread, 0);
    const read = this.#unread.filter(({ unread }) => unread === 0).map(({ id }) => `c:${id}`);
    const told = JSON.stringify([badge, read]);
    if (told === this.#told) return;
    this.#told = told;
    clearPhone(read, badge);
  }

  async #begin() {
    await this.#try(async () => {
      const rules = await request(this.#client, 'push_settings', {});
      const end = phoneToken().slice(-6);
      const isKnown = Array.isArray(rules.devices)
        && rules.devices.some((device) => device?.deviceId === deviceId && device.tokenEnd === end);
      this.#take(rules);
      if (isKnown) this.#draw(true);
      else if (!this.#isOff) await this.#register();
      await this.#seeNotifications();
    });
  }

  async #register() {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const device = { deviceId, token: phoneToken(), ...(timeZone ? { timezone: timeZone } : {}) };
    await request(this.#client, 'register_device', device);
    this.#draw(true);
  }

  /** Who opens the app has seen the notifications on the phone: they are read. */
  async #seeNotifications() {
    const { notifications } = await lookAtPhone().catch(() => ({ notifications: [] }));
    const ids = notifications.map(({ id }) => String(id)).filter((id) => /^n:[0-9]+-[0-9]+$/.test(id));
    if (ids.length === 0) return;
    await request(this.#client, 'mark_read', { ids: ids.map((id) => id.slice(2)) });
    clearPhone(ids);
  }

  async #toggle() {
    await this.#try(async () => {
      this.#isOff = this.#isRegistered;
      if (!this.#isOff) return this.#register();
      await request(this.#client, 'remove_device', { deviceId });
      this.#draw(false);
    });
  }

  async #save() {
    const [from, to] = [element('phone-from').value, element('phone-to').value];
    const types = { ...this.#rules?.types, message: element('phone-messages').value };
    const quiet = from === '' && to === '' ? {} : { quietFrom: from, quietTo: to };
    await this.#try(async () => {
      const told = await request(this.#client, 'set_preferences', {
        types, quietMode: element('phone-mode').value, ...quiet,
      });
      this.#take({ ...this.#rules, ...told });
      say('phone-saved', 'Saved.');
    });
  }

  async #try(step) {
    say('phone-problem', '');
    say('phone-saved', '');
    try {
      await step();
    } catch (error) {
      say('phone-problem', error.message);
    }
  }

  #take(rules) {
    this.#rules = rules;
    element('phone').hidden = false;
    const word = rules.types?.message;
    element('phone-messages').value = words.includes(word) ? word : 'on';
    element('phone-from').value = rules.quietFrom ?? '';
    element('phone-to').value = rules.quietTo ?? '';
    element('phone-mode').value = rules.quietMode === 'silent' ? 'silent' : 'hold';
  }

  #draw(isRegistered) {
    this.#isRegistered = isRegistered;
    say('phone-state', isRegistered ? 'Registered: close the app, and what you are told is pushed to the phone.'
      : 'Not registered: nothing is pushed.');
    say('phone-switch', isRegistered ? 'Take the phone off' : 'Register the phone');
    this.#tell();
  }
}
