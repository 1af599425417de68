"""Bounds of the loader, so that hostile text ends in a diagnostic within bounded time and memory."""

MAX_TEXT = 16 * 1024 * 1024
"""Code points of one spec; a dump of 20,000 statements has about 10 million."""

MAX_NODES = 2_000_000
"""Nodes written in one spec."""

MAX_EXPANDED = 200_000
"""Nodes that aliases may add to those the file has."""

MAX_ERRORS = 50
"""Errors reported of one loading step."""
