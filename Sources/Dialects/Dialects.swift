// Room: Dialects
