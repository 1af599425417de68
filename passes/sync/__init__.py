"""How InsertSync finds the flags and barriers a region needs; see `passes/insert_sync.py` for the whole idea."""
