"""The script of orders at its limits: it reads and writes nothing, and asks for one token."""

from weight_cases import case


@case
def order_pass(site):
    return lambda n: site.commands.call("order_pass", role="service", random=f"{n + 1:032x}", orderId=f"o{n}")[0]
