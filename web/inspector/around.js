// A key from a page around this one: the demo's page of the same gateway, which shows the inspector in a frame.

/** Asks the page around for a key, and gives it to `use`; does nothing on a page that stands alone. */
export function askAround(use) {
  if (parent === self) return;
  addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent || typeof data?.inspectorKey !== 'string') return;
    use(data.inspectorKey);
  });
  parent.postMessage({ inspector: 'ready' }, location.origin);
}
