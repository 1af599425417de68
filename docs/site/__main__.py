"""`python -m docs.site`: builds the documentation's site into `build/site`."""

from __future__ import annotations

import sys

from docs.site.build import main

sys.exit(main())
