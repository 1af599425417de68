"""`python -m docs.site.pictures`: draws the pictures of `docs/images` anew."""

from __future__ import annotations

from docs.site.pictures.all import write

write()
