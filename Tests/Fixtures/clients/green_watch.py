"""Looks at the readiness of gateways all the while: a green light that goes out for nothing is a fault."""

import contextlib
import threading

LOOK_SECONDS = 0.5


class GreenWatch:
    """Asks `/readyz` of the gateways that it watches; a context manager with a thread of its own."""

    def __init__(self, *gateways):
        self.looks, self.problems = 0, []
        self._watched = set(gateways)
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="green watch")

    def __enter__(self) -> "GreenWatch":
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    @contextlib.contextmanager
    def without(self, gateway):
        """Leaves out a gateway while the block restarts it; it must be ready again at the block's end."""
        with self._lock:
            self._watched.remove(gateway)
        yield
        with self._lock:
            self._watched.add(gateway)

    def _run(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            with self._lock:
                for gateway in self._watched:
                    self._look(gateway)

    def _look(self, gateway) -> None:
        self.looks += 1
        try:
            answer = gateway.ops("/readyz")
        except Exception as error:  # noqa: BLE001  whatever keeps the answer away is a finding
            self.problems.append(f"{gateway.directory.name}: no answer: {error!r}")
            return
        body = answer.json()
        if answer.status_code != 200 or body.get("warnings"):
            self.problems.append(f"{gateway.directory.name}: {answer.status_code} {answer.text}")
