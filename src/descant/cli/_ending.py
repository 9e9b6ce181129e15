"""How a command ends: its exit status, and one sentence on stderr where something went wrong.

| status | what |
|---|---|
| 0 | done |
| 1 | no mistake of the user's: a result that overflows, an experiment that failed, a lack of memory, a fault of ours |
| 2 | a mistake in what was asked for |
| 130, 143 | interrupted by Ctrl-C, or by SIGTERM |
| 141 | nobody reads the output any more |

With DESCANT_DEBUG=1 the traceback is shown before the sentence.
"""

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress

from cyclopts import CycloptsError

from .._signals import Terminated, terminate_politely
from ._watch import shown

DEBUG = "DESCANT_DEBUG"
FAILED, MISTAKEN, INTERRUPTED, UNREAD, TERMINATED = 1, 2, 130, 141, 143
KEPT = "what was finished is kept, the same command does the rest."
# Letters of a sentence; of a longer one the beginning and the end are shown.
LONGEST = 1500
# What a machine lacks is nobody's mistake.
LACKS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


def status_of(command: Callable[[], int]) -> int:
    """Run a command to its end, whatever that is."""
    debugged = os.environ.get(DEBUG, "") not in ("", "0")
    try:
        with terminate_politely(), shown(), warnings.catch_warnings():
            if not debugged:
                # Overflows and their like: results are looked at, and what is wrong with them is said in a sentence.
                warnings.simplefilter("ignore")
            status = command()
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where it can be answered for: at the interpreter's end it can't
            return status
    except BaseException as error:
        if debugged:
            traceback.print_exc()
        status, sentence = _told(error)
    _close(sys.stdout)
    if sentence:
        with suppress(OSError):
            print("descant: " + _short(" ".join(sentence.split())), file=sys.stderr, flush=True)
    return status


def _short(sentence: str) -> str:
    """A sentence that fits on a screen: it may quote what was asked for, however long that was."""
    return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST // 2]} … {sentence[-LONGEST // 2 :]}"


def _told(error: BaseException) -> tuple[int, str]:
    """The exit status and the sentence."""
    match error:
        case SystemExit():
            # Rich ends a command whose output nobody reads in this way.
            unread = isinstance(error.__context__, BrokenPipeError)
            return UNREAD if unread else error.code if isinstance(error.code, int) else FAILED, ""
        case BrokenPipeError():
            return UNREAD, ""
        case Terminated():
            return TERMINATED, f"terminated; {KEPT}"
        case KeyboardInterrupt():
            return INTERRUPTED, f"interrupted; {KEPT}"
        case OSError():
            named = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
            return FAILED if error.errno in LACKS else MISTAKEN, named
        case CycloptsError() | ValueError():
            return MISTAKEN, str(error)
        case OverflowError():
            return FAILED, str(error)
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        return FAILED, f"there is not enough memory ({error}); ask for less at a time."
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return FAILED, f"internal error, {what.rstrip('.')}; set {DEBUG}=1 for the traceback."


def _close(stream) -> None:
    """Let go of what is still to be written to a stream that can't take it, or the interpreter would try again."""
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
