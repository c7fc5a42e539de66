// Room: Transport
