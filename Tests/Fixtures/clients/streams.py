"""An event stream as a client reads it: `httpx-sse` over a connection of its own."""

import json
from contextlib import contextmanager

from httpx_sse import connect_sse


class Stream:
    """A stream that is open: its records one by one."""

    def __init__(self, source):
        self.response = source.response
        # As the standard has it: a record without data is no event. `httpx-sse` tells of those with `retry`, too.
        self._records = (record for record in source.iter_sse() if record.data)
        #: As a browser keeps it: the id of the last record that had one.
        self.last_id = ""

    def next(self):
        """The next record."""
        record = next(self._records)
        self.last_id = record.id or self.last_id
        return record

    def expect(self, event: str) -> dict:
        """The next record has that name; returns its message."""
        record = self.next()
        message = json.loads(record.data)
        assert record.event == event == message["event"], (record.event, record.data)
        return message

    def rest(self) -> list[str]:
        """The names of all records until the stream ends."""
        return [record.event for record in self._records]


@contextmanager
def stream(gateway, *topics: str, last_id: str | None = None, key=None, headers=None, **query):
    """Opens `/v1/stream` on those topics; `last_id` is what a browser sends when it comes back."""
    fields = dict(headers or {}) | ({} if last_id is None else {"Last-Event-ID": last_id})
    params = [("topic", topic) for topic in topics] + list(query.items())
    with gateway.http(key) as http, connect_sse(http, "GET", "/v1/stream", params=params, headers=fields) as source:
        if source.response.status_code != 200:
            source.response.read()
        yield Stream(source)
