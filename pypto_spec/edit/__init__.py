"""Rewriting the text of a spec without changing what it says: its layout, its format."""
