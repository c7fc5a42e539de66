"""What a shop's queue must be, told from its keys by other means than the scripts: the backends' formula."""

import json
import math
import re

TIERS = ("standard", "blackCard")
USER = re.compile(r"[A-Za-z0-9._~:-]{1,128}")
DAY_MS = 86_400_000
MINUTE_MS = 60_000
YEAR_9999_MS = 253_370_764_800_000
BOUNDS = {"serviceMinutes": (1, 480), "scheduledAt": (0, YEAR_9999_MS), "createdAt": (0, YEAR_9999_MS),
          "startedAt": (0, YEAR_9999_MS), "estimatedCompletion": (0, YEAR_9999_MS)}


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def booking(text):
    """The open booking of a hash field, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or len(text) > 4096:
        return None
    if not isinstance(value.get("userId"), str) or not USER.fullmatch(value["userId"]):
        return None
    if not isinstance(value.get("barberId", ""), str | None):
        return None
    if value.get("tier") not in TIERS or value.get("status") not in ("pending", "confirmed", "in-progress"):
        return None
    for name, (low, high) in BOUNDS.items():
        number = value.get(name)
        if number is not None and not (is_number(number) and low <= number <= high):
            return None
    return value if value.get("createdAt") is not None else None


def decimal(text):
    try:
        return float(text) if text is not None and math.isfinite(float(text)) else None
    except ValueError:
        return None


def average(service):
    """Minutes of a service: as set, as learned, or 30."""
    fixed = decimal(service.get("averageMinutes"))
    if fixed is not None and 1 <= fixed <= 480:
        return fixed
    count = total = 0
    for tier in TIERS:
        known = service.get(f"count:{tier}", b"").decode(errors="replace")
        minutes, squares = decimal(service.get(f"sum:{tier}")), decimal(service.get(f"squares:{tier}"))
        if not re.fullmatch("[1-9][0-9]{0,9}", known) or int(known) > 10**9 or None in (minutes, squares):
            continue
        if squares >= 0 and 1 <= minutes / int(known) <= 480:
            count, total = count + int(known), total + minutes
    return total / count if count else 30


def status(db, shop, now_ms):
    """The QueueStatus without updatedAt, from what is in Redis."""
    settings = {name.decode(): text for name, text in db.hgetall(f"shop:{shop}#settings").items()}
    service = {name.decode(): text for name, text in db.hgetall(f"shop:{shop}#service").items()}
    offset = decimal(settings.get("utcOffsetMinutes"))
    if offset is None or offset != int(offset) or not -720 <= offset <= 840:
        offset = 0

    def day(ms):
        return math.floor((ms + offset * MINUTE_MS) / DAY_MS)

    found = [booking(text) for text in db.hvals(f"shop:{shop}#bookings")]
    waiting = sum(1 for one in found if one and one["status"] == "confirmed" and (
        one.get("scheduledAt") is None or day(one["scheduledAt"]) == day(now_ms)))
    active = db.scard(f"shop:{shop}#barbers")
    wait = math.ceil((waiting / active) * average(service)) if active else 0
    return {"shopId": shop, "queueLength": waiting, "avgWaitTime": wait, "currentlyServing": active,
            "estimatedWaitTimes": {"standard": wait, "blackCard": max(wait * 0.4, 5)}}
