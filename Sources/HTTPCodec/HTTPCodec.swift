// Room: HTTPCodec
