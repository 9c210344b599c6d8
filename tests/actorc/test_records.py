"""Our `dataclass` behaves as the standard library's does, for what actorc uses of it."""

from __future__ import annotations

import dataclasses

import pytest

from actorc import records

BOTH = pytest.mark.parametrize("module", [records, dataclasses])


@BOTH
def test_values_defaults_and_factories(module) -> None:
    @module.dataclass(slots=True)
    class Record:
        one: int
        two: str = "b"
        three: list[int] = module.field(default_factory=list)

    record, other = Record(1), Record(one=1, two="c")
    assert (record.one, record.two, record.three) == (1, "b", [])
    assert other.two == "c"
    assert record.three is not other.three
    assert Record.__match_args__ == ("one", "two", "three")
    assert repr(record).endswith("Record(one=1, two='b', three=[])")
    with pytest.raises(TypeError):
        Record()
    with pytest.raises(AttributeError):
        record.four = 4
    with pytest.raises(TypeError):
        hash(record)


@BOTH
def test_frozen_records_compare_and_hash_by_value_and_class(module) -> None:
    @module.dataclass(frozen=True, slots=True)
    class One:
        value: int

        @property
        def double(self) -> int:
            return 2 * self.value

    @module.dataclass(frozen=True, slots=True)
    class Two:
        value: int

    assert One(1) == One(1) != One(2)
    assert len({One(1), One(1), One(2)}) == 2
    assert One(1) != Two(1)
    assert One(3).double == 6
    assert module.replace(One(1), value=5) == One(5)


@BOTH
def test_fields_are_inherited_and_identity_can_be_kept(module) -> None:
    @module.dataclass(frozen=True, slots=True, eq=False)
    class Base:
        first: int

    @module.dataclass(frozen=True, slots=True, eq=False)
    class Derived(Base):
        """What it is."""

        second: int = 2

    derived = Derived(1)
    assert (derived.first, derived.second) == (1, 2)
    assert derived != Derived(1)
    assert derived in {derived}
    assert isinstance(derived, Base)
    assert Derived.__doc__ == "What it is."
    assert Derived.__match_args__ == ("first", "second")
