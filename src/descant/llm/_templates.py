"""Wordings of the prompt, as data: `templates.toml` beside this file, or a file of the user's own."""

import tomllib
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path

from .._names import file_name

HERE = Path(__file__).parent / "templates.toml"
# Letters of a path; of a longer one the system only says that it is too long.
LONGEST = 1000
PLACES = {"pair": ("{first}", "{second}"), "guess": ("{guess}",)}
# The ends of the scale may stand in these.
SCALED = ("head", "guess", "score", "end", "chat")
# What is asked unless a user names wordings: the answers of one say little.
DEFAULT = ("terse", "lines", "question", "json")


@dataclass(frozen=True)
class Template:
    """One wording; `templates.toml` says what the parts are."""

    name: str
    head: str
    pair: str
    guess: str
    score: str
    end: str
    digits: int
    chat: str

    def __post_init__(self):
        file_name("name of a template", self.name)

    def on(self, low: float, high: float) -> "Template":
        """The wording with the ends of a scale in it.

        >>> find_template("question").on(1, 5).score
        'On a scale from 1 to 5, their similarity is '
        """
        ends = {"{low}": f"{low:g}", "{high}": f"{high:g}"}
        written = {}
        for part in SCALED:
            written[part] = getattr(self, part)
            for place, end in ends.items():
                written[part] = written[part].replace(place, end)
        return replace(self, **written)

    @property
    def example(self) -> str:
        """Some stem, for seeing where a tokenizer cuts it."""
        return self.stem("A man plays.", "A man sings.", 2.5)

    def write(self, score: float) -> str:
        """A score as it stands in the prompt."""
        return f"{score:.{self.digits}f}"

    def stem(self, first: str, second: str, guess: float | None) -> str:
        """A pair up to where its score stands."""
        shown = "" if guess is None else self.guess.replace("{guess}", self.write(guess))
        # One pass over the template: a sentence may hold braces.
        before, between = self.pair.split("{first}")
        middle, after = between.split("{second}")
        return f"{before}{first}{middle}{second}{after}{shown}{self.score}"


def templates(path: Path = HERE) -> dict[str, Template]:
    """All templates of a file.

    >>> list(templates())[:6]
    ['terse', 'lines', 'question', 'table', 'json', 'whole']
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} can't be read as TOML: {error}.") from None
    return {name: _template(path, name, table) for name, table in tables.items()}


@lru_cache
def find_template(name: str) -> Template:
    """A template by its name, or the only one, or the one called NAME, of a file: `FILE.toml` or `FILE.toml:NAME`."""
    own = templates()
    if name in own:
        return own[name]
    file, _, inside = name.partition(".toml")
    if len(file) > LONGEST or not Path(file + ".toml").is_file():
        raise ValueError(
            f"template is {name!r}; expected one of: {', '.join(own)}, or a file FILE.toml or FILE.toml:NAME."
        )
    found = templates(Path(file + ".toml"))
    wanted = inside.removeprefix(":") or (next(iter(found)) if len(found) == 1 else "")
    if wanted not in found:
        raise ValueError(f"template is {name!r}; {file}.toml has: {', '.join(found)}.")
    return found[wanted]


def _template(path: Path, name: str, table: object) -> Template:
    expected = {field.name: field.type for field in fields(Template) if field.name != "name"}
    if not isinstance(table, dict) or set(table) != set(expected):
        raise ValueError(f"{path}, [{name}], has not exactly the fields {', '.join(expected)}.")
    for field, kind in expected.items():
        if type(table[field]) is not kind:
            raise ValueError(
                f"{path}, [{name}], {field} is {table[field]!r}; expected {getattr(kind, '__name__', kind)}."
            )
    for field, places in PLACES.items():
        for place in places:
            if table[field].count(place) != 1:
                raise ValueError(f"{path}, [{name}], {field} is {table[field]!r}; expected {place} in it, once.")
    if table["digits"] not in (0, 1):
        raise ValueError(f"{path}, [{name}], digits is {table['digits']}; expected 0 or 1.")
    if not table["score"] or not table["end"]:
        raise ValueError(f"{path}, [{name}]: score and end must not be empty, or scores run into sentences.")
    return Template(name, **table)


def find_templates(names: str) -> tuple[Template, ...]:
    """Several wordings, with commas between their names; no two with the same name, which folders are called by."""
    found = tuple(find_template(name.strip()) for name in names.split(","))
    if len({each.name for each in found}) != len(found):
        raise ValueError(f"template is {names!r}; expected each wording once, and no two of one name.")
    return found
