"""Ways to spoil the text of a program."""

import re
from random import Random

WORDS = [
    "@",
    "+",
    "-",
    "*",
    "/",
    "**",
    ".T",
    "(",
    ")",
    "[",
    "]",
    ":",
    ",",
    "=",
    "0",
    "1.5",
    "X",
    "y",
    "zz",
    "t",
    "n",
    "if",
    "while",
    "for",
    "return",
    "def",
    "yield",
    "import",
    "_",
    "None",
    "é",
]
WORDS += ["inv(X)", "X / X", "X * X", "exp(X)", "lambda: 0", "X > 0", "import os", "eye(0)", "eye(X)", "range(X)"]
WORDS += ["range(2.5)", "X[0]", "X[9:99]", "X[0:1:2]", "hstack(X)", "9 ** 99999", "1 / 0", "a.b", '"text"', "1e999"]
WORDS += ["\\", "\n", "\t", "\x00", "__import__('os')", "X.shape", "print(X)", "await X"]


def spoilt(text: str, random: Random) -> str:
    """A text with one to three mistakes: words dropped, doubled, swapped or put where they don't belong."""
    for _ in range(random.randint(1, 3)):
        parts = re.split(r"(\W)", text)
        place = random.randrange(len(parts))
        form = random.randrange(5)
        if form == 0:
            del parts[place]
        elif form == 1:
            parts[place] = random.choice(WORDS)
        elif form == 2:
            parts.insert(place, f" {random.choice(WORDS)} ")
        elif form == 3:
            other = random.randrange(len(parts))
            parts[place], parts[other] = parts[other], parts[place]
        else:
            lines = text.split("\n")
            lines.insert(random.randrange(len(lines)), f"    {random.choice(['X = ', ''])}{random.choice(WORDS)}")
            parts = ["\n".join(lines)]
        text = "".join(parts)
    return text
