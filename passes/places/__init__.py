"""Where tiles live: what their uses ask for, and which values must be in one place."""
