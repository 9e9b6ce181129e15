"""From a schedule to the text of a program: a line per block, a name per place."""

import keyword
import re

from .._description import Description
from ..language import NUMBERS
from ..schedule import Block, Schedule, Step
from ._expressions import Term, linear, product, total

INDICES = "tsrijkl"
# Names that mean something else in a program.
CALLED = ("eye", "zeros", "ones", "constant", "hstack", "vstack", "range")
TAKEN = {*NUMBERS, *CALLED, *INDICES}
LONGEST = 14
INDENT = "    "


def as_text(schedule: Schedule, description: Description) -> str:
    """The text of a program whose lines are the blocks of a schedule."""
    _check_names(description)
    writer = _Writer(schedule)
    parameters = [
        f'{each.name}: "{each.rows} {each.width}"' + (" = 0" if each.optional else "") for each in description.inputs
    ]
    # Optional parameters stand last, as Python wants them; a program had them so.
    head = f"def {_identifier(description.program, 'program')}({', '.join(parameters)}):"
    doc = f'{INDENT}"""Every line is a block of the network, every name a value in H."""'
    lines = writer.steps(schedule.steps, INDENT, 0)
    aliases = [f"{INDENT}{new} = {old}" for new, old in writer.ordered_aliases()]
    text = "\n".join([head, doc, *lines, *aliases, f"{INDENT}return {', '.join(writer.returned)}", ""])
    for name in CALLED:
        if name in writer.names.values() and re.search(rf"\b{name}\(", text):
            raise ValueError(f"a value is called {name}, as a function is that the text needs; call it something else.")
    return text


def _check_names(description: Description) -> None:
    """Inputs and outputs keep their names in the text; in a description that somebody changed they may be anything."""
    for each in (*description.inputs, *description.outputs):
        if not each.name.isidentifier() or keyword.iskeyword(each.name):
            raise ValueError(f"{each.name[:60]!r} can't be a name in a program's text.")


class _Writer:
    def __init__(self, schedule: Schedule):
        self.schedule = schedule
        self.names: dict[int, str] = {place: name for name, place in schedule.inputs.items()}
        used = set(self.names.values())
        self.aliases: list[tuple[str, str]] = []
        self.returned: list[str] = []
        for name, place in schedule.outputs:
            if place not in self.names:
                self.names[place] = _unused(name, used)
            if self.names[place] != name:
                self.aliases.append((name, self.names[place]))
            used |= {name, self.names[place]}
            self.returned.append(name)
        for place in schedule.places:
            if place.number not in self.names:
                self.names[place.number] = _unused(_identifier(place.name, f"v{place.number}"), used)
                used.add(self.names[place.number])

    def ordered_aliases(self) -> list[tuple[str, str]]:
        """New names for outputs, so that no name is taken while its value is still needed under it."""
        found, waiting, used = [], list(self.aliases), {*self.names.values(), *self.returned}
        while waiting:
            read = [old for _, old in waiting]
            free = [alias for alias in waiting if alias[0] not in read]
            if free:
                found.append(free[0])
                waiting.remove(free[0])
                continue
            # Names that change places: one value is put aside.
            taken, aside = waiting[0][0], _unused(waiting[0][0], used)
            used.add(aside)
            found.append((aside, taken))
            waiting = [(new, aside if old == taken else old) for new, old in waiting]
        return found

    def steps(self, steps: tuple[Step, ...], indent: str, depth: int) -> list[str]:
        lines = []
        for step in steps:
            if isinstance(step, Block):
                lines += self._block(step, indent)
            else:
                lines.append(f"{indent}for {self._index(depth)} in range({step.count}):")
                lines += self.steps(step.body, indent + INDENT, depth + 1)
        return lines

    def _block(self, block: Block, indent: str) -> list[str]:
        if not block.writes:
            return [f"{indent}pass"]
        values = [self._value(block, place) for place in block.writes]
        names = ", ".join(self.names[place] for place in block.writes)
        if len(values) == 1:
            return [f"{indent}{names} = {values[0]}"]
        if sum(map(len, values)) + len(names) < 90:
            return [f"{indent}{names} = {', '.join(values)}"]
        return [f"{indent}{names} = (", *(f"{indent}{INDENT}{value}," for value in values), f"{indent})"]

    def _value(self, block: Block, place: int) -> str:
        terms: list[Term] = []
        for write in block.carry:
            if write.place == place:
                terms += linear(write.reading, self._name)
        copy = len(terms) == 1 and terms[0].number == 1 and terms[0].text.isidentifier()
        for head in block.heads:
            for write in head.values:
                if write.place == place:
                    terms.append(product(head, write.reading, self._name))
                    copy = False
        rows, columns = self.schedule.places[place].shape
        # A name alone would be a second name for the same value.
        return (f"1 * {terms[0].text}" if copy else total(terms)) or f"zeros({rows}, {columns})"

    def _index(self, depth: int) -> str:
        """An index that no value is called."""
        used = {*self.names.values(), *self.returned}
        free = [name for name in INDICES if name not in used]
        return free[depth] if depth < len(free) else _unused("index", used | {f"index_{k}" for k in range(depth)})

    def _name(self, place: int) -> str:
        return self.names[place]


def _identifier(name: str, otherwise: str) -> str:
    """A name of the description as one of the language: Xᵀ X becomes XtX."""
    found = re.sub(r"\W+", "_", name.replace("ᵀ", "t").replace(" ", ""), flags=re.ASCII).strip("_")
    allowed = found.isidentifier() and not keyword.iskeyword(found) and found not in TAKEN
    # What was a name stays one, however long: texts come back as they are.
    usable = allowed and (found == name or len(found) <= LONGEST)
    return found if usable else otherwise


def _unused(name: str, used: set[str]) -> str:
    number, found = 2, name
    while found in used:
        found, number = f"{name}_{number}", number + 1
    return found
