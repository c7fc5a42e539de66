"""A server's side of a plain WebSocket, cut into whole frames."""


class WebFrames:
    """Takes bytes as they come; gives back the head of the answer and the frames that are whole."""

    def __init__(self):
        self._bytes = b""
        self._is_head = True

    def take(self, chunk: bytes) -> list[bytes]:
        """The pieces that are whole with these bytes."""
        self._bytes += chunk
        pieces = []
        while size := self._size():
            pieces.append(self._bytes[:size])
            self._bytes, self._is_head = self._bytes[size:], False
        return pieces

    def _size(self) -> int:
        """The size of the first piece, 0 while it is not whole; a server masks nothing (RFC 6455, section 5.2)."""
        data = self._bytes
        if self._is_head:
            return data.find(b"\r\n\r\n") + 4 if b"\r\n\r\n" in data else 0
        if len(data) < 2:
            return 0
        length, start = data[1] & 127, 2
        if length > 125:
            start = 4 if length == 126 else 10
            if len(data) < start:
                return 0
            length = int.from_bytes(data[2:start], "big")
        return start + length if len(data) >= start + length else 0
