// A program that uses the client as it is told to, and tells what it sees: for tests that watch from outside.

/** `library` is the module, `tell` takes what is seen. Returns a function that takes one order. */
export function driver(library, tell, options = {}) {
  let client = null;
  let give = null;
  const orders = {
    open({ url, token = null, isKept = false, headers }) {
      const ask = (reason) => new Promise((resolve) => {
        give = resolve;
        tell({ asked: reason });
      });
      const storage = isKept ? { storage: library.webStorage() } : {};
      const sockets = headers === undefined ? {} : { WebSocket: options.dressed(headers) };
      const who = { token: token === 'source' ? ask : token };
      client = new library.SwitchboardClient(url, { ...options, ...storage, ...sockets, ...who });
      watch(client.statuses(), (status) => tell({ phase: status.phase, reason: status.reason?.code, status }));
      watch(client.outbox.results(), ({ id, answer, error }) => tell({ result: id, answer, error: error?.code }));
      client.start();
    },
    give: ({ token }) => give(token),
    join({ topic, options: how }) {
      watch(client.topic(topic, how), (update) => tell({ topic, ...update, error: update.error?.code }))
        .then(() => tell({ topic, ended: true }), (error) => tell({ topic, ended: error.code }));
    },
    state: ({ topic }) => client.state(topic).then((state) => tell({ stateOf: topic, state })),
    async call({ event, data, topic, options: how }) {
      const calling = topic === undefined ? client.call(event, data, how) : client.publish(topic, event, data, how);
      const { id } = how;
      await calling.then((answer) => tell({ call: id, answer }), (error) => tell({ call: id, error: error.code }));
    },
    stop: () => client.stop(),
  };
  return ({ order, ...more }) => { orders[order](more); };
}

async function watch(values, tell) {
  for await (const value of values) tell(value);
}
