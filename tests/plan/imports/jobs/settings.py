LIMIT = 20
TABLES = ["a", "b", "c"]
