// The phone of this window's guest: its device token, and what the demo's stand-in for APNs has brought to it.
import { ask } from '/http.js';

const storedAs = 'switchboard.phone';
const tokenForm = /^[0-9a-f]{64}$/;

/** The token: made by chance for a window, and kept with its guest. Who knows it may look at the phone. */
export function phoneToken() {
  try {
    const kept = sessionStorage.getItem(storedAs);
    if (tokenForm.test(kept ?? '')) return kept;
  } catch {
    // Without storage the phone is another one after a reload.
  }
  const token = [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  try {
    sessionStorage.setItem(storedAs, token);
  } catch {
    // As above.
  }
  return token;
}

const path = () => `/demo/phone/${phoneToken()}`;

/** What the phone shows: {badge, notifications}, newest first. */
export const lookAtPhone = () => ask({ token: null }, 'GET', path());

let lastOrder = 0;

/**
 * Takes notifications off the phone and sets its badge, as an app does; also when the page is left meanwhile.
 *
 * Two requests may overtake each other. `order` grows, also after a reload, so that the phone keeps the newest badge.
 */
export async function clearPhone(ids, badge) {
  lastOrder = Math.max(lastOrder + 1, Date.now());
  const told = { ids, badge, order: lastOrder };
  try {
    await fetch(`${path()}/read`, { method: 'POST', keepalive: true, body: JSON.stringify(told) });
  } catch {
    // The next change is told with all of it.
  }
}
