"""The way back: from a compiled network to a program's text."""

from .._compiled import CompiledProgram
from ._recover import recover
from ._text import as_text


def decompile(compiled: CompiledProgram) -> str:
    """The text of a program that is a compiled network: a line per block, a name per value in H, a loop per repeat.

    The description says where values lie and what they are called; all that is computed is read off the weights, also
    after a training that kept their structure. `compile_as_written` makes the same weights of the text again;
    `compile_program` makes a network of the same function.

    **Arguments:** `compiled` is what `compile_program`, `load` or a training gave. A `ValueError` says where weights
    are not those of a program.

    >>> from descant.programs import compile_program
    >>> print(decompile(compile_program("ridge", n=6, d=2, T=3)))
    def ridge(X: "6 2", y: "6 1", w: "2 1" = 0):
        \"\"\"Every line is a block of the network, every name a value in H.\"\"\"
        Xty, XtX = X.T @ y, X.T @ X
        for t in range(3):
            w = 0.995 * w + 0.01 * Xty - 0.01 * (XtX @ w)
        return w
    <BLANKLINE>
    """
    return as_text(recover(compiled).schedule, compiled.description)
