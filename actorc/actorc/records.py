"""`dataclass`, `field` and `replace` of the standard library, as far as actorc uses them, at a tenth of their cost.

Each file is usually compiled by its own process, so import time counts once for each file. The standard
`dataclasses` take 40 ms for this program, more than all the rest of it: they import `inspect` and compile up to six
functions for each class. Here a class with slots gets one compiled function, its `__init__`, when it is first made.

mypy sees the originals, so mypy reports an assignment to a frozen object; at run time nothing checks that.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the name that mypy looks for; typing itself takes 4 ms
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    from operator import attrgetter

    _FIELDS = "__dataclass_fields__"  # name -> default, _NONE, or a _Factory; in the order of the parameters
    _NONE = object()

    class _Factory:
        def __init__(self, make):
            self.make = make

    def field(*, default_factory):
        return _Factory(default_factory)

    def replace(record, **changes):
        values = {name: getattr(record, name) for name in record.__match_args__}
        return type(record)(**{**values, **changes})

    def dataclass(*, frozen=False, slots=False, eq=True):
        """`slots` must be true. There is no `__post_init__`, no class variable, and no keyword-only field."""
        assert slots

        def make(cls):
            names = cls.__dict__.get("__annotations__", ())  # noqa: RUF063  inspect is what costs the time
            own = {name: cls.__dict__.get(name, _NONE) for name in names}
            known = {**getattr(cls, _FIELDS, {}), **own}
            members = {name: value for name, value in cls.__dict__.items() if name not in own}
            for name in ("__dict__", "__weakref__"):
                members.pop(name, None)
            members |= {"__slots__": tuple(own), _FIELDS: known, "__match_args__": tuple(known), "__repr__": _repr}
            members |= _functions(known, eq=eq, hashable=frozen)
            return type(cls)(cls.__name__, cls.__bases__, members)

        return make

    def _functions(known, *, eq, hashable):
        """The methods of the class. Its `__init__` is compiled when the first object is made: of most classes a run
        makes none."""

        def make_first(self, *arguments, **named):
            owner = next(each for each in type(self).__mro__ if each.__dict__.get("__init__") is make_first)
            owner.__init__ = _initialiser(known)
            owner.__init__(self, *arguments, **named)

        members = {"__init__": make_first}
        if eq:
            values = attrgetter(*known) if known else type
            members["__eq__"] = lambda self, other: (
                values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
            )
            members["__hash__"] = (lambda self: hash(values(self))) if hashable else None
        return members

    def _initialiser(known):
        parameters = ["self"]
        lines = []
        names = {}
        for name, default in known.items():
            if default is _NONE:
                parameters.append(name)
            else:
                names[f"_{name}"] = default.make if isinstance(default, _Factory) else default
                parameters.append(f"{name}=_{name}")
            made = isinstance(default, _Factory)
            lines.append(f" self.{name} = " + (f"_{name}() if {name} is _{name} else {name}" if made else name))
        exec(f"def __init__({', '.join(parameters)}):\n" + ("\n".join(lines) or " pass"), names)
        return names["__init__"]

    def _repr(self):
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({values})"
