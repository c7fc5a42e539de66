// Room: WebSocketCodec
