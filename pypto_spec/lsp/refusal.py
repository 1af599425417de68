"""A request that cannot be granted: the client shows the reason to its user."""

from __future__ import annotations

import logging

from pygls.exceptions import JsonRpcException


class Refused(JsonRpcException):
    """`RequestFailed` of the protocol, with a message for people."""

    CODE = -32803


class Overtaken(Refused):
    """`ServerCancelled`: the text has changed since the request; whoever still wants an answer asks again."""

    CODE = -32802


def unless_refused(record: logging.LogRecord) -> bool:
    """A filter for the log: a refusal is an answer and an exit an end, neither is a failure."""
    return not (record.exc_info and isinstance(record.exc_info[1], (Refused, SystemExit)))
