# Sourced: sets limits, the flags of a gateway on which one address stands for everybody.
#
# One address opens everything here, and publishes far faster than any client would; users act far faster, too.
limits=(
    --limit connectionsPerAddressMax=100000 --limit connectsPerAddressPerSecond=1000000
    --limit topicsPerAddressMax=10000000
    --limit userKeptBytes=1099511627776 --limit addressKeptBytes=1099511627776
    --limit unauthenticatedPerAddressMax=100000 --limit requestsPerAddressPerSecond=1000000
    --limit messagesPerSecond=1000000 --limit userActionsPerSecond=1000000
    --limit addressRedisUsPerSecond=100000000 --limit anonymousRedisUsPerSecond=100000000
    --limit userRedisUsPerSecond=100000000
)
