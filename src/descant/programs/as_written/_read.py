"""A text as a schedule, line by line: every assignment is a block, every name a place, every loop a repeat."""

import ast
from typing import Any

from ..language import NUMBERS, Executor, Matrix, ProgramError, Scope, Traced
from ..schedule import Block, Head, Loop, Place, Reading, Schedule, Step, Write, with_lifetimes
from ._values import Value, apply, of_place, three

COPY = "write 1 * w for a copy: names in a loop are places of H"


class LineReader:
    """One walk through a function's statements; a loop's body is walked through once."""

    def __init__(self, traced: Traced):
        self.executor = Executor(traced.settings)
        self.executor.scope = Scope({**NUMBERS, **traced.settings})
        self.trace = self.executor.trace
        self.places: list[Place] = []
        self.place_of: dict[int, int] = {}
        self.steps: list[Step] = []
        # The line that first assigns to each place.
        self.lines: dict[int, ast.stmt] = {}
        # Names that are bound outside of the loops under way: they stay where they are.
        self.fixed: list[set[str]] = []
        self.inputs = {each.name: self._new(each.name, each.shape) for each in traced.inputs}
        self.names.update({name: self._leaf(place) for name, place in self.inputs.items()})
        self.outputs = traced.outputs

    @property
    def names(self) -> dict[str, Any]:
        """What every name holds."""
        return self.executor.scope.values

    def schedule(self, statements: list[ast.stmt]) -> Schedule:
        """The whole program."""
        for statement in statements[:-1]:
            self._statement(statement)
        final = statements[-1]
        assert isinstance(final, ast.Return) and final.value is not None
        found = self.executor.value(final.value)
        values: list[Matrix] = found if isinstance(found, list) else [found]
        new = [index for index, value in enumerate(values) if value.address not in self.place_of]
        if new:
            numbers = [self._new(self.outputs[index], values[index].shape) for index in new]
            with self.executor.at(final):
                self.steps.append(self._block([(numbers[i], values[index]) for i, index in enumerate(new)]))
            for index, number in zip(new, numbers, strict=True):
                values[index] = self._leaf(number)
        outputs = tuple((name, self.place_of[v.address]) for name, v in zip(self.outputs, values, strict=True))
        schedule = with_lifetimes(Schedule(tuple(self.places), self.inputs, outputs, tuple(self.steps)))
        self._check_beginnings(schedule)
        return schedule

    def _check_beginnings(self, schedule: Schedule) -> None:
        """What lives on after a loop has its columns before it already: something must have put it there."""
        for number in sorted(schedule.alive_first - {*self.inputs.values()}):
            name, (rows, columns) = self.places[number].name, self.places[number].shape
            way_out = f"give it one before the loop too: {name} = zeros({rows}, {columns})"
            with self.executor.at(self.lines[number]):
                raise ProgramError(f"{name} gets its first value in a loop and is used after it", way_out)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() as value):
                self._alias(name, self.executor.value(value), node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assign(node, [name], [self.executor.value(value)])
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                values = self.executor.value(value)
                names = [each.id for each in targets if isinstance(each, ast.Name)]
                if not isinstance(values, list) or not len(values) == len(names) == len(targets):
                    self._refuse(node, "an assignment to something that is no list of names")
                self._assign(node, names, values)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                old = self.executor.value(ast.copy_location(ast.Name(name, ast.Load()), target))
                self._assign(node, [name], [self.executor.binary(node, op, old, self.executor.value(value))])
            case ast.If(test=test, body=body, orelse=otherwise):
                for statement in body if self.executor.condition(test) else otherwise:
                    self._statement(statement)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=arguments), body=body):
                # Whole numbers, and few enough: the program was run through before.
                count = len(range(*(self.executor.value(argument) for argument in arguments)))
                self._loop(node, name, count, body)
            case ast.Pass():
                self.steps.append(Block((), (), ()))
            case _:
                self._refuse(node, "this line")

    def _refuse(self, node: ast.stmt, what: str) -> None:
        with self.executor.at(node):
            raise ProgramError(f"{what} can't be taken as it is written", "compile it without --as-written")

    def _loop(self, node: ast.stmt, index: str, count: int, body: list[ast.stmt]) -> None:
        if any(isinstance(each, ast.Name) and each.id == index for part in body for each in ast.walk(part)):
            self._refuse(node, f"a loop that uses its index {index}")
        if count == 0:
            return
        outside, self.steps = self.steps, []
        self.fixed.append({name for name, value in self.names.items() if isinstance(value, Matrix)})
        scalars = {name: value for name, value in self.names.items() if not isinstance(value, Matrix)}
        for statement in body:
            self._statement(statement)
        self.fixed.pop()
        for name, value in scalars.items():
            if isinstance(self.names[name], Matrix) or self.names[name] != value:
                self._refuse(node, f"a loop in which the number {name} changes")
        if self.steps:
            outside.append(Loop(count, tuple(self.steps)))
        self.steps = outside

    def _assign(self, node: ast.stmt, names: list[str], values: list[Any]) -> None:
        matrices = [(name, value) for name, value in zip(names, values, strict=True) if isinstance(value, Matrix)]
        self.names.update({n: value for n, value in zip(names, values, strict=True) if not isinstance(value, Matrix)})
        if not matrices:
            return
        with self.executor.at(node):
            targets = [(self._target(name, value), value) for name, value in matrices]
            self.steps.append(self._block(targets))
        self.lines = {place: node for place, _ in targets} | self.lines
        for (name, _), (place, _) in zip(matrices, targets, strict=True):
            self.names[name] = self._leaf(place)

    def _alias(self, name: str, value: object, node: ast.stmt) -> None:
        if self.fixed and isinstance(value, Matrix):
            with self.executor.at(node):
                raise ProgramError("a second name for a value in a loop", COPY)
        self.names[name] = value

    def _target(self, name: str, value: Matrix) -> int:
        """The place that a name has, if it has the shape and no other name has it too; else a new one."""
        old = self.names.get(name)
        place = self.place_of.get(old.address) if isinstance(old, Matrix) else None
        if place is not None and self.places[place].shape == value.shape:
            sharing = [n for n, v in self.names.items() if isinstance(v, Matrix) and self._at_place(v, place)]
            if sharing == [name]:
                return place
        if any(name in each for each in self.fixed):
            raise ProgramError(f"{name} is another value outside of the loop", "give it another name, or one shape")
        return self._new(name, value.shape)

    def _at_place(self, value: Matrix, place: int) -> bool:
        return self.place_of.get(value.address) == place

    def _new(self, name: str, shape: tuple[int, int]) -> int:
        self.places.append(Place(len(self.places), name, shape))
        return len(self.places) - 1

    def _leaf(self, place: int) -> Matrix:
        shape = self.places[place].shape
        address = self.trace.add("stored", (), shape, place)
        self.place_of[address] = place
        return Matrix(self.trace, address, shape, (str(shape[0]), str(shape[1])))

    def _block(self, targets: list[tuple[int, Matrix]]) -> Block:
        heads: list[tuple[Reading, Reading, dict[int, Reading]]] = []
        alike: dict[tuple, list[dict[int, Reading]]] = {}
        carry = []
        for place, matrix in targets:
            value = self._expression(matrix.address)
            linear = _pruned(value.linear)
            if linear.terms or linear.constant is not None:
                carry.append(Write(place, linear))
            for product in value.products:
                query, key, last = (_pruned(each) for each in three(product))
                # A head adds to several places, and to each of them once: what is written twice is two heads.
                same = alike.setdefault((_key(query), _key(key)), [])
                written = next((values for values in same if place not in values), None)
                if written is None:
                    same.append(written := {})
                    heads.append((query, key, written))
                written[place] = last
        made = (Head(q, k, tuple(Write(place, v) for place, v in written.items())) for q, k, written in heads)
        return Block(tuple(made), tuple(carry), tuple(place for place, _ in targets))

    def _expression(self, address: int) -> Value:
        """An expression down to the places that it reads; without recursion, because sums may be long."""
        done: dict[int, Value] = {}
        waiting = [address]
        while waiting:
            here = waiting[-1]
            instruction = self.trace.instructions[here]
            missing = [each for each in instruction.operands if each not in done]
            if here in done or missing:
                waiting = waiting[:-1] if here in done else waiting + missing
                continue
            if instruction.op == "stored":
                done[here] = of_place(instruction.attribute, instruction.shape)
            else:
                done[here] = apply(instruction, [done[each] for each in instruction.operands])
            waiting.pop()
        return done[address]


def _pruned(reading: Reading) -> Reading:
    """Without what is zero."""
    terms = tuple((place, right) for place, right in reading.terms if right.any())
    constant = reading.constant if reading.constant is not None and reading.constant.any() else None
    return Reading(reading.shape, terms, constant)


def _key(reading: Reading) -> tuple:
    """Equal for equal readings; adding zero makes the two zeros one."""
    terms = tuple((place, (right + 0.0).tobytes()) for place, right in reading.terms)
    return reading.shape, terms, None if reading.constant is None else (reading.constant + 0.0).tobytes()
