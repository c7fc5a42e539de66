"""What a rig of fixed gateways starts and ends, in order."""


class Installed:
    """Redis, gateways, and what stands behind or in front of them; a gateway that was killed for good stays so.

    `around` are pairs of functions: one starts a part, the other ends it.
    """

    def __init__(self, redis, gateways, *around):
        self.redis, self.gateways, self.around = redis, gateways, around

    def __enter__(self):
        self.redis.start()
        for gateway in self.gateways:
            gateway.start().wait_ready(20)
        for start, _ in self.around:
            start()
        return self

    def __exit__(self, *_):
        for _, stop in reversed(self.around):
            stop()
        for gateway in self.gateways:
            if gateway.process is not None:
                gateway.stop()
        self.redis.stop()
