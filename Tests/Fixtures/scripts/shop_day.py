"""A barbershop's day, customer by customer, lived through the real scripts: what was promised and what came."""

import heapq
import json
import math
from dataclasses import dataclass, field

MINUTE_MS = 60_000
OPEN_MINUTES = 600
LAST_ARRIVAL = 540


@dataclass
class Customer:
    """Who comes, with what only the future knows: how much work it is, and whether they stay."""

    name: str
    black: bool
    work: float  # minutes of an average barber
    stated: int | None
    patience: float
    shows_up: bool
    arrived: float = 0.0
    formula: float | None = None
    p50: float | None = None
    p90: float | None = None
    wait: float | None = None


@dataclass
class Barber:
    name: str
    pace: float
    begins: float
    ends: float
    serves: Customer | None = None
    active: bool = False


@dataclass
class ShopDay:
    """One day of a shop. `rng` decides everything; the scripts only see what a backend would tell them."""

    commands: object
    rng: object
    begin_ms: int
    shop: str = "42"
    names_barbers: bool = True
    customers: list = field(default_factory=list)

    def live(self):
        """Runs the day and returns the customers who were served."""
        self.line, self.events, self.ticket = [], [], 0
        self.barbers = self._barbers()
        for barber in self.barbers:
            self._plan(barber.begins, self._barber_comes, barber)
            self._plan(barber.ends, self._barber_goes, barber)
        # About nine tenths of what the barbers can do, with a rush in the middle of the day.
        capacity = sum(barber.ends - barber.begins for barber in self.barbers) / 33
        at = 0.0
        while at < LAST_ARRIVAL:
            rush = 1.4 if 0.35 < at / OPEN_MINUTES < 0.65 else 0.8
            at += self.rng.expovariate(0.9 * capacity / OPEN_MINUTES * rush)
            self._plan(at, self._arrives, self._customer())
        while self.events:
            self.now, _, happens, who = heapq.heappop(self.events)
            happens(who)
        self.commands.db.delete("#outbox")
        return [customer for customer in self.customers if customer.wait is not None]

    def _plan(self, at, happens, who):
        self.ticket += 1
        heapq.heappush(self.events, (at, self.ticket, happens, who))

    def _barbers(self):
        barbers = []
        for index in range(self.rng.randint(2, 5)):
            begins = 0.0 if index == 0 else self.rng.choice([0.0, 0.0, 0.0, self.rng.uniform(60, 200)])
            ends = OPEN_MINUTES if index == 0 else self.rng.choice([OPEN_MINUTES] * 3 + [self.rng.uniform(350, 600)])
            barbers.append(Barber(f"b{index}", self.rng.lognormvariate(0, 0.12), begins, ends))
        return barbers

    def _customer(self):
        rng = self.rng
        black = rng.random() < 0.12
        usual = rng.lognormvariate(math.log(38 if black else 29), 0.4)  # what the order tells
        customer = Customer(
            name=f"c{len(self.customers)}-{self.begin_ms}", black=black, work=usual * rng.lognormvariate(0, 0.15),
            stated=min(480, max(5, 5 * round(usual / 5))) if rng.random() < 0.75 else None,
            patience=rng.uniform(20, 90) if rng.random() < 0.04 else math.inf, shows_up=rng.random() > 0.03)
        self.customers.append(customer)
        return customer

    def _call(self, name, **arguments):
        return self.commands.call(name, now_ms=self._now_ms(), shopId=self.shop, **arguments)[0]

    def _now_ms(self):
        return self.begin_ms + round(self.now * MINUTE_MS)

    def _barber_comes(self, barber):
        barber.active = True
        self._call("set_barber", barberId=barber.name, active=True)
        self._next(barber)

    def _barber_goes(self, barber):
        barber.active = False
        self._call("set_barber", barberId=barber.name, active=False)

    def _arrives(self, customer):
        customer.arrived = self.now
        self.commands.db.delete(f"queue:{self.shop}")
        self._call("queue_refresh")
        status = json.loads(self.commands.db.get(f"queue:{self.shop}"))
        if estimate := status.get("estimate"):
            mine = estimate["blackCard"] if customer.black else estimate
            customer.formula = status["estimatedWaitTimes"]["blackCard" if customer.black else "standard"]
            customer.p50, customer.p90 = mine["p50"], mine["p90"]
        if status["queueLength"] >= 1.5 * status["currentlyServing"] and self.rng.random() < 0.7:
            return  # sees the line and goes on
        stated = {} if customer.stated is None else {"serviceMinutes": customer.stated}
        self._call("create_booking", bookingId=customer.name, userId="u", tier="blackCard" if customer.black
                   else "standard", **stated)
        self._call("move_booking", bookingId=customer.name, status="confirmed")
        self.line.append(customer)
        if customer.patience < math.inf:
            self._plan(self.now + customer.patience, self._loses_patience, customer)
        for barber in self.barbers:
            if barber.active and barber.serves is None:
                return self._next(barber)

    def _loses_patience(self, customer):
        if customer in self.line:
            self.line.remove(customer)
            self._call("move_booking", bookingId=customer.name, status="cancelled")

    def _next(self, barber):
        while barber.active and self.line:
            customer = min(self.line, key=lambda one: (not one.black, one.arrived))
            self.line.remove(customer)
            if not customer.shows_up:
                self._call("move_booking", bookingId=customer.name, status="no-show")
                continue
            customer.wait = self.now - customer.arrived
            barber.serves = customer
            who = {"barberId": barber.name} if self.names_barbers else {}
            self._call("move_booking", bookingId=customer.name, status="in-progress", **who)
            return self._plan(self.now + min(470, max(2, customer.work * barber.pace)), self._done, barber)

    def _done(self, barber):
        self._call("move_booking", bookingId=barber.serves.name, status="completed")
        barber.serves = None
        self._next(barber)
