"""Any table of pairs and scores: with commas, tabs or semicolons, with or without a header, by name or by number."""

import csv
import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path

Row = tuple[str, str, float]
# What the columns are called in the files that people have: each is looked for as it stands, without regard to case.
NAMES = (
    ("sentence1", "sentence_1", "sentence a", "sentence_a", "sent1", "text1", "first", "premise", "question1"),
    ("sentence2", "sentence_2", "sentence b", "sentence_b", "sent2", "text2", "second", "hypothesis", "question2"),
    ("score", "relatedness_score", "similarity", "similarity_score", "label", "gold", "rating"),
)
# With a comma in it, "1,000" may be one or a thousand: such a score is none.
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,(?:\d{1,2}|\d{4,})\s*")
# A sentence of more characters is no sentence, but a file read with the wrong quotes.
LONGEST = 20_000


def read_table(path: Path, columns: Sequence[str] = ()) -> list[Row]:
    """First sentence, second sentence and score of every row.

    `columns` are three names of a header, or three numbers counted from 1; left out, a header's usual names are looked
    for, and without a header a row must have just these three.
    """
    rows = _rows(path)
    named = _has_header(rows[0], columns)
    where = _places(path, rows[0], named, columns)
    body = list(enumerate(rows, 1))[named:]
    if not body:
        raise ValueError(f"{path} has a header and no rows; expected rows of sentence, sentence, score.")
    return [_row(path, number, row, where) for number, row in body]


def check_columns(columns: Sequence[str]) -> None:
    """Check what a user names as columns."""
    if columns and (len(columns) != 3 or not all(columns) or len(set(columns)) != 3):
        raise ValueError(
            f"columns is {','.join(columns)!r}; expected three different ones, sentence, sentence and score: names of "
            "the header, or numbers from 1, as in --columns 2,3,4."
        )


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            beginning = next((line for line in file if line.strip(" \t\r\n,;")), "")
            file.seek(0)
            # Tables with tabs quote nothing: a quotation mark in them belongs to its sentence.
            tabs = "\t" in beginning
            separator = ";" if _semicolons(beginning) else ","
            reader = (
                csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
                if tabs
                else csv.reader(file, delimiter=separator)
            )
            rows = [row for row in reader if any(cell.strip() for cell in row)]
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist; expected a table of sentence, sentence, score.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} can't be read as a table in UTF-8: {error}; save it as CSV in UTF-8.") from None
    if not rows:
        raise ValueError(f"{path} is empty; expected rows of sentence, sentence, score.")
    return rows


def _semicolons(beginning: str) -> bool:
    """Whether semicolons part the cells of a line, and not commas: programs write so where commas are in numbers.

    Where both might, they do: half of "3,5" looks like a number, a part of a sentence between semicolons hardly does.
    """
    cells = next(csv.reader([beginning], delimiter=";"), [])
    return len(cells) >= 3 and _looks_right(cells)


def _looks_right(cells: list[str]) -> bool:
    known = set(itertools.chain.from_iterable(NAMES))
    return len({cell.strip().casefold() for cell in cells} & known) >= 2 or any(map(_is_number, cells))


def _has_header(first: list[str], columns: Sequence[str]) -> bool:
    cells = [cell.strip().casefold() for cell in first]
    if columns and not all(name.isdigit() for name in columns):
        return True
    known = set(itertools.chain.from_iterable(NAMES))
    return len(set(cells) & known) >= 2 or not any(map(_is_number, cells))


def _places(path: Path, first: list[str], named: bool, columns: Sequence[str]) -> tuple[int, int, int]:
    cells = [cell.strip().casefold() for cell in first]
    has = f"the columns {', '.join(cells)}" if named else f"{len(first)} columns"
    if columns:
        found = [_place(name, cells, named) for name in columns]
    elif named:
        found = [next((cells.index(name) for name in names if name in cells), None) for names in NAMES]
    else:
        found = [0, 1, 2] if len(first) == 3 else [None] * 3
    places = [each for each in found if each is not None and each < len(first)]
    if len(places) < 3:
        asked = f"columns is {','.join(columns)!r}, and {path} has {has}" if columns else f"{path} has {has}"
        raise ValueError(
            f"{asked}; expected to find sentence, sentence and score: say which they are with --columns, three names "
            "of the header or three numbers from 1, as in --columns 2,3,4."
        )
    twice = [cells[place] for place in places if named and cells.count(cells[place]) > 1]
    if twice and not all(name.isdigit() for name in columns or ("",)):
        raise ValueError(
            f"{path} has {cells.count(twice[0])} columns called {twice[0]!r}; expected one: say which with three "
            "numbers from 1, as in --columns 2,3,4."
        )
    return places[0], places[1], places[2]


def _place(name: str, cells: list[str], named: bool) -> int | None:
    if named and name.casefold() in cells:
        return cells.index(name.casefold())
    return int(name) - 1 if name.isdigit() and int(name) > 0 else None


def _row(path: Path, number: int, row: list[str], where: tuple[int, int, int]) -> Row:
    try:
        first, second, text = (row[place] for place in where)
        score = _number(text)
    except (ValueError, IndexError):
        raise ValueError(f"{path}, row {number}, is {_short(row)}; expected sentence, sentence, score.") from None
    # A line break inside a sentence would look like the end of one in a prompt.
    first, second = (" ".join(each.split()) for each in (first, second))
    if not math.isfinite(score) or not first or not second:
        raise ValueError(f"{path}, row {number}, is {_short(row)}; expected two sentences and a finite score.")
    if len(first) + len(second) > LONGEST:
        raise ValueError(
            f"{path}, row {number}, has a sentence of more than {LONGEST:,} characters; expected sentences: is a "
            "quotation mark open?"
        )
    return first, second, score


def _short(row: list[str]) -> str:
    return repr([cell if len(cell) <= 60 else cell[:60] + "…" for cell in row[:6]])


def _number(text: str) -> float:
    return float(text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text)


def _is_number(text: str) -> bool:
    """NaN is one, too: a row that lacks its score is no header."""
    try:
        _number(text)
    except ValueError:
        return False
    return True
