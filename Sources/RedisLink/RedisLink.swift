// Room: RedisLink
