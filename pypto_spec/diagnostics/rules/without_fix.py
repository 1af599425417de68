"""Rules whose findings never come with a fix, and why; a test sees to it that each other rule has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SEVERAL: Final = "there are several ways out, and each changes more than one place"
_ELSEWHERE: Final = "what has to change is not in the text of the spec"
_MEANING: Final = "what was meant cannot be told from the text"
_ORDER: Final = "the order of statements is for the author to decide"
_SIZES: Final = "sizes of tiles, and the loops over them, have to change together"

WITHOUT_FIX: Final[Mapping[str, str]] = {
    "PS1002": "YAML cannot be read from here on, so nothing is known of the structure around it",
    "PS1006": _MEANING,
    "PS1008": "the second program goes into another file",
    "PS1009": _SEVERAL,
    "PS1013": _MEANING,
    "PS1018": _MEANING,
    "PS1019": _MEANING,
    "PS1029": "a dump is written by the compiler",
    "PS1061": _MEANING,
    "PS2010": _MEANING,
    "PS2011": _ELSEWHERE,
    "PS2012": "every use of the name has to change with it: an editor's rename does that",
    "PS2030": "every use of the name has to change with it: an editor's rename does that",
    "PS2031": _MEANING,
    "PS2033": _MEANING,
    "PS2051": _SEVERAL,
    "PS2052": _SEVERAL,
    "PS2061": _SEVERAL,
    "PS2062": _MEANING,
    "PS2071": _SEVERAL,
    "PS3001": _SIZES,
    "PS3006": _SIZES,
    "PS3007": _SEVERAL,
    "PS3010": _SIZES,
    "PS3020": _SEVERAL,
    "PS3021": "a loop has to be put around it",
    "PS3031": "the number that is meant is lost in this dtype",
    "PS3033": _SEVERAL,
    "PS3035": _SIZES,
    "PS3060": _SIZES,
    "PS3061": _SEVERAL,
    "PS4002": _ORDER,
    "PS4021": _SIZES,
    "PS5003": _SEVERAL,
    "PS5101": _ORDER,
    "PS5103": _ORDER,
    "PS5105": _ORDER,
    "PS5106": "both ends of the flag have to take another id that is free",
    "PS5107": _SEVERAL,
    "PS6001": "a region has to be put around it, or it has to move",
    "PS6010": "a region has to be divided, with a tensor in between",
    "PS6020": _ORDER,
    "PS6041": _SIZES,
    "PS7001": "leaving it out would make another program",
    "PS7010": _ELSEWHERE,
    "PS7011": _ELSEWHERE,
    "PS7020": _ELSEWHERE,
    "PS7021": "the compiler wrote what does not compile",
    "PS7030": "either side of the comparison may be wrong",
    "PS7031": _SEVERAL,
    "PS7032": _MEANING,
    "PS9001": "the compiler is wrong, not the spec",
    "PS9002": "the compiler is wrong, not the spec",
    "PS9003": "the compiler is wrong, not the spec",
    "PH001": _SIZES,
    "PH-AT-003": _SIZES,
    "PH-AT-005": _SIZES,
    "PH-AT-006": _SEVERAL,
    "PH-AT-007": _SIZES,
    "PH-AT-008": _SIZES,
    "PH-AT-009": _SEVERAL,
    "PH-AT-011": _SIZES,
}
"""Reasons by code."""
