"""Abstract or final: a method that does something is written once, and no class below writes it again."""

import ast
import importlib
import inspect
import pkgutil
import textwrap
from abc import abstractmethod

import descant
from descant.tasks import AbstractTask, Unknown
from descant.tasks._law import AbstractVectorLaw

# Every class has its own, or Python calls those of all classes above too.
OF_EACH_CLASS = {"__init__", "__check_init__", "__init_subclass__"}
# Slower ways that always work, for those who have no better one.
SLOW_WAYS = [AbstractTask.sample_moments, AbstractVectorLaw.second_moment]


def package_classes() -> list[type]:
    """Every class of the package, private ones too."""
    found = set()
    for module in pkgutil.walk_packages(descant.__path__, "descant."):
        if "__main__" in module.name or "_torch" in module.name:  # PyTorch is an extra
            continue
        things = vars(importlib.import_module(module.name)).values()
        found |= {thing for thing in things if inspect.isclass(thing) and thing.__module__.startswith("descant.")}
    return sorted(found, key=repr)


def function_of(member):
    """The function behind a method, a property or a class method; None for anything else."""
    for attribute in ("fget", "func", "__func__", "__wrapped__"):
        member = getattr(member, attribute, None) or member
    return member if inspect.isfunction(member) else None


def says_no(function) -> bool:
    """Whether a method is an answer for those who don't know: it raises Unknown, or returns a constant."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    match [line for line in definition.body if not isinstance(line, ast.Expr | ast.Delete)]:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id="Unknown")))] | [ast.Return(value=ast.Constant())]:
            return True
    return False


def written_again(cls: type, ours: str = "descant.") -> list[str]:
    """The methods of a class that a class of ours above it has written out already."""
    found = []
    for name in vars(cls).keys() - OF_EACH_CLASS:
        for base in cls.__mro__[1:] if function_of(vars(cls)[name]) else ():
            member = vars(base).get(name) if base.__module__.startswith(ours) else None
            above = function_of(member)
            if above is None or getattr(member, "__isabstractmethod__", False) or above in map(function_of, SLOW_WAYS):
                continue
            if not says_no(above):
                found.append(f"{cls.__module__}.{cls.__name__}.{name}, of {base.__name__}")
    return found


def test_no_method_is_written_again():
    assert [line for cls in package_classes() for line in written_again(cls)] == []


def test_a_method_that_is_written_again_is_seen():
    class AbstractOne:
        @abstractmethod
        def first(self) -> int: ...

        def second(self) -> int:
            raise Unknown("no")

        @property
        def third(self) -> bool:
            """Says no."""
            return False

        @property
        def fourth(self) -> int:
            return self.first()

    class Other(AbstractOne):
        def first(self):
            return 1

        def second(self):
            return 2

        @property
        def third(self) -> bool:
            return True

        @property
        def fourth(self):
            return 4

    assert [line.rpartition("Other.")[2] for line in written_again(Other, "tests.")] == ["fourth, of AbstractOne"]
