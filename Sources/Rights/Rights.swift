// Room: Rights
