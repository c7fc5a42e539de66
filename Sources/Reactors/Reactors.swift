// Room: Reactors
