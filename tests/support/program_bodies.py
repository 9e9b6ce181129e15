"""Programs by their bodies alone."""

from descant.programs import Program

HEAD = 'def p(X: "n d", y: "n 1", w: "d 1" = 0, *, eta=0.1, T=3):\n'
SIZES = {"n": 4, "d": 3}


def trace(body: str, **settings):
    text = HEAD + "".join(f"    {line}\n" for line in body.split("\n"))
    return Program.from_text(text, "p.py").trace({**SIZES, **settings})


def repeats(traced) -> list[int]:
    return [each.attribute.count for each in traced.body.instructions if each.op == "repeat"]
