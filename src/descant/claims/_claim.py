"""Claims as data, and where they are found."""

import importlib
import os
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc, unwrap
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .._checks import CONTROL, Verdict
from .._extras import require
from .._names import file_name
from .._registry import look_here
from ._evidence import Evidence
from ._paper import PAPERS, Paper, known

if TYPE_CHECKING:
    from ._lab import Lab


# The packages beside this file in which every module is looked through for claims.
HOMES = ("elsa", "initial_guess", "ltb", "linear_transformer", "ours")
# Modules or packages with claims of one's own, separated by commas.
MORE_CLAIMS = "DESCANT_CLAIMS"
WHOSE = ("paper", "derived", "extension", "control")
# Where the words of a paper were seen.
SEEN = {
    "full text": "in the full text",
    "no equations": "in a copy of the text that lacks its displayed equations, which we derived",
    "poster": "on the poster",
    "summary": "in the abstract and in public summaries; details are ours",
    "transcription": "in a machine transcription, which may be corrupt",
}
DOUBTFUL = ("transcription",)


@dataclass(frozen=True)
class Claim:
    """A statement and the experiment that judges it.

    - `id`: short name, as typed after `descant reproduce`; `paper`: the id of its paper, a key of `PAPERS`.
    - `where`: where the paper says it: section, theorem, figure, table; for a claim of one's own, where it is derived.
    - `title`: a headline of a few words; `statement`: the claim in our own words, Markdown with `$mathematics$`.
    - `whose`: whose statement it is: the `paper`'s; or ours, `derived` from what the paper states, an `extension` that
      goes beyond it, or a `control` of its conditions.
    - `seen`: where the paper's words were seen, a key of `SEEN`; empty for statements of our own.
    - `identity`: that it holds by the algebra of a construction: the experiment then checks code, and is no evidence
      about the world.
    - `refuted_by`: what would show that it is wrong: sentences by short names, each of which a check has to stand
      `against`.
    - `method`: how the experiment goes about it, closed form against numerics against trained model; Markdown with
      `$mathematics$`.
    - `budgets`: what is done at each budget, in words; `seconds`: about how long the quick budget takes on one core:
      the longest claims are begun first.
    - `observed`: that a paper saw it in networks that it trained, and it is judged on ours, whatever the verdict: what
      ours don't show is not false of its own.
    - `needs`: packages that are not in the core, by the names under which they are imported; who lacks one is told
      before anything is computed.
    """

    id: str
    paper: str
    where: str
    title: str
    whose: str
    seen: str
    identity: bool
    statement: str
    refuted_by: dict[str, str]
    method: str
    budgets: dict[str, str]
    seconds: float
    experiment: "Callable[[Lab], Evidence]"
    needs: tuple[str, ...] = ()
    observed: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether the words that are judged may not be the paper's: then it is not the paper that fails with them."""
        return self.seen in DOUBTFUL

    def standing(self, verdict: Verdict) -> str:
        """What a verdict says of the claim.

        Where our networks don't show what a paper saw in its own, nothing is said of those, however well its words can
        be read; where words that may be corrupt fail, nothing is said of the paper.
        """
        if verdict != "does-not-hold":
            return verdict
        return "not-in-ours" if self.observed else "not-as-read" if self.doubtful else verdict

    def evidence(self, lab: "Lab") -> Evidence:
        """Run the experiment; a `ValueError` if a refutation has no check, or a check stands against nothing."""
        for package in self.needs:
            require(package, f"the claim {self.id}")
        found = self.experiment(lab)
        against = {check.against for check in found.checks} - {CONTROL}
        if len(self.refuted_by) == 1:
            against = {key or next(iter(self.refuted_by)) for key in against}
        idle, unknown = set(self.refuted_by) - against, against - set(self.refuted_by)
        if idle or unknown:
            raise ValueError(
                f"claim {self.id!r} has refutations that no check could trigger: {sorted(idle)}, and checks against "
                f"what is no refutation of it: {sorted(unknown)}; expected checks against: {sorted(self.refuted_by)}."
            )
        return found


class Title(NamedTuple):
    """What is known of a claim without its experiment: its id, the id of its paper, and its headline."""

    id: str
    paper: str
    title: str


Named = TypeVar("Named", Claim, Title)
_FOUND: dict[str, Claim] = {}


def claim(
    id: str,
    *,
    paper: Paper | str,
    where: str,
    title: str,
    statement: str,
    refuted_by: str | dict[str, str],
    method: str,
    quick: str,
    full: str,
    seconds: float,
    whose: str = "",
    seen: str = "",
    identity: bool = False,
    observed: bool = False,
    needs: tuple[str, ...] = (),
):
    """Decorate an experiment so that it is found.

    `paper` is the id of a known paper, or a `Paper` of one's own; `whose` is the paper's unless that is `own`. The rest
    is as in `Claim`, except that one refutation may be a sentence without a name: then checks don't have to name it.
    """
    its = known(paper)
    said = whose or ("extension" if its.own else "paper")
    if said not in WHOSE or (its.own and said == "paper"):
        raise ValueError(f"whose of claim {id!r} is {said!r}; expected one of: {', '.join(WHOSE[its.own :])}.")
    if seen and (seen not in SEEN or said != "paper"):
        raise ValueError(f"seen of claim {id!r} is {seen!r}; expected one of: {', '.join(SEEN)}; only for a paper's.")
    if observed and said != "paper":
        raise ValueError(
            f"observed of claim {id!r} is True; expected that only of a paper's, and this one is {said!r}."
        )
    refutations = {"claim": refuted_by} if isinstance(refuted_by, str) else refuted_by
    if not refutations or CONTROL in refutations:
        raise ValueError(
            f"refuted_by of claim {id!r} is {refuted_by!r}; expected sentences by names, none {CONTROL!r}."
        )
    file_name("id of a claim", id)
    if id in _FOUND:
        raise ValueError(f"two claims have the id {id!r}; expected each id once.")

    def register(experiment: "Callable[[Lab], Evidence]") -> "Callable[[Lab], Evidence]":
        _FOUND[id] = Claim(
            id=id,
            paper=its.id,
            where=where,
            title=title,
            whose=said,
            seen=seen,
            identity=identity,
            statement=cleandoc(statement),
            refuted_by={key: cleandoc(words) for key, words in refutations.items()},
            method=cleandoc(method),
            budgets={"quick": quick, "full": full},
            seconds=seconds,
            experiment=experiment,
            needs=needs,
            observed=observed,
        )
        return experiment

    return register


def own_homes() -> list[str]:
    """Modules and packages with claims of one's own."""
    return [name.strip() for name in os.environ.get(MORE_CLAIMS, "").split(",") if name.strip()]


def all_claims() -> dict[str, Claim]:
    """Every claim by id, paper by paper; those of the modules in the variable `DESCANT_CLAIMS` too."""
    look_here()
    more = own_homes()
    for home in (*(f"{__package__}.{home}" for home in HOMES), *more):
        try:
            package = importlib.import_module(home)
        except ModuleNotFoundError as error:
            if home in more and error.name == home.split(".")[0]:
                raise ValueError(
                    f"{MORE_CLAIMS} names {home!r}, which can't be found; is it in this folder or on PYTHONPATH?"
                ) from None
            raise
        for module in sorted(info.name for info in pkgutil.iter_modules(getattr(package, "__path__", []))):
            importlib.import_module(f"{home}.{module}")
    # Whoever imported a module before has registered its claims out of turn.
    return by_paper(dict(sorted(_FOUND.items(), key=lambda item: _place(item[1]))))


def _place(claim: Claim) -> tuple[bool, str, int]:
    """Where a claim stands in the source: ours by file and line, then those of others."""
    written = unwrap(claim.experiment)
    module, code = written.__module__, getattr(written, "__code__", None)
    return not module.startswith(f"{__package__}."), module, code.co_firstlineno if code else 0


def by_paper(claims: dict[str, Named]) -> dict[str, Named]:
    """In the order of the papers."""
    order = list(PAPERS)
    return dict(sorted(claims.items(), key=lambda item: order.index(item[1].paper)))


def find(ids: list[str] | None = None) -> dict[str, Claim]:
    """The claims asked for: by id, or all of a paper by its name; all of them if nothing is named."""
    return chosen(all_claims(), ids)


def chosen(claims: dict[str, Named], ids: list[str] | None) -> dict[str, Named]:
    """Those of some claims, whole or by their titles, that are asked for."""
    if not ids:
        return claims
    unknown = [id for id in ids if id not in claims and id not in PAPERS]
    if unknown:
        raise ValueError(
            f"no claim and no paper is called {unknown[0]!r}; papers: {', '.join(PAPERS)}; "
            "`descant claims` lists the claims."
        )
    return {id: claim for id, claim in claims.items() if id in ids or claim.paper in ids}
