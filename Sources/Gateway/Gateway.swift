// Room: Gateway
