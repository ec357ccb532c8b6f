"""Records in memory: schema, hierarchies, codes, and the table; reading/ is the way in."""
