"""What openapi-generator's clients for pydantic 1 use of the package aenum, which Debian does not have.

An enum of the standard library, but for one thing: its body may name the class that it is the body of.
"""

import enum

no_arg = object()


class _Names(enum._EnumDict):
    def __missing__(self, name):
        if name == self._cls_name:
            return name
        raise KeyError(name)


class _EnumType(enum.EnumMeta):
    @classmethod
    def __prepare__(mcs, cls, bases, **further):
        usual = super().__prepare__(cls, bases, **further)
        names = _Names()
        vars(names).update(vars(usual))
        for name, value in usual.items():
            dict.__setitem__(names, name, value)
        return names


class Enum(enum.Enum, metaclass=_EnumType):
    pass
