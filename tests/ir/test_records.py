from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from dataclasses import FrozenInstanceError, field, replace

import pytest

from pypto_spec.records import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """Two numbers and a list nobody compares."""

    x: int
    y: int = 2
    seen: list[int] = field(default_factory=list, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Point):
    """A subclass with a field that has no default."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Alike only if the same."""

    x: int


@dataclass(slots=True)
class Counter:
    """Not frozen."""

    count: int = 0


def test_is_a_dataclass_with_the_standard_form() -> None:
    point = Point(1)
    assert dataclasses.is_dataclass(point)
    assert [f.name for f in dataclasses.fields(point)] == ["x", "y", "seen"]
    assert repr(point) == "Point(x=1, y=2)"
    assert replace(point, y=5) == Point(1, 5)
    assert dataclasses.astuple(point) == (1, 2, [])
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_defaults_are_made_anew() -> None:
    assert Point(1).seen is not Point(1).seen
    assert Point(1).seen == []


def test_equality_and_hash_follow_the_compared_fields() -> None:
    assert Point(1, seen=[1]) == Point(1)
    assert hash(Point(1, seen=[1])) == hash(Point(1))
    assert Point(1) != Point(2)
    assert Node(1) != Node(1)
    assert len({Node(1), Node(1)}) == 2
    assert Counter(1) == Counter(1)
    with pytest.raises(TypeError):
        hash(Counter())


def test_nan_is_equal_to_itself_as_in_a_tuple() -> None:
    @dataclass(frozen=True, slots=True)
    class Number:
        """One field."""

        value: float

    assert Number(math.nan) == Number(math.nan)
    assert Number(math.nan) != Number(float("nan"))
    assert hash(Number(1)) == hash(Number(1.0))


def test_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Point(1).x = 3  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del Point(1).x
    counter = Counter()
    counter.count = 3
    assert counter == Counter(3)


def test_no_dictionary() -> None:
    assert not hasattr(Point(1), "__dict__")


def test_subclass() -> None:
    named = Named(1, name="p")
    assert repr(named) == "Named(x=1, y=2, name='p')"
    assert named != Point(1)
    with pytest.raises(TypeError):
        Named(1, 2, [], "p")  # type: ignore[call-arg]


@pytest.mark.parametrize("value", [Point(1, seen=[4]), Named(1, name="p"), Counter(2)])
def test_copies(value: object) -> None:
    for made in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert made == value
        assert repr(made) == repr(value)
