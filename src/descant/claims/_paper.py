"""The papers whose claims are judged, and we ourselves; a claim of one's own may bring its own."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """Who makes claims that are judged: a paper, or whoever wrote the experiments.

    **Arguments:** `id` is what `descant reproduce` calls it, `short` what tables do; `authors` are separated by commas;
    `arxiv` is its number there, `url` another address (say, `https://doi.org/...`); both may be left out.
    `own` says that no paper makes the claims but the authors of the experiments themselves: they are counted apart.

    >>> print(Paper("notes", "Notes", "Notes on attention", "Ada Lovelace", 1843).citation)
    @misc{lovelace1843,
      title = {Notes on attention},
      author = {Ada Lovelace},
      year = {1843}
    }
    """

    id: str
    short: str
    title: str
    authors: str
    year: int
    arxiv: str = ""
    venue: str = ""
    url: str = ""
    own: bool = False

    def __post_init__(self):
        # Ids are parts of addresses in the pages.
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.id):
            raise ValueError(f"id of a paper is {self.id!r}; expected small letters and digits, with hyphens between.")
        if self.url and not re.match("https?://", self.url):
            raise ValueError(
                f"url of paper {self.id!r} is {self.url!r}; expected an address that begins with https://."
            )

    @property
    def address(self) -> str:
        """Where to read it; empty if that is not known."""
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else self.url

    @property
    def source(self) -> str:
        """Where it is published, in words; empty if nothing is known."""
        return f"arXiv {self.arxiv}" if self.arxiv else self.venue or self.url

    @property
    def citation(self) -> str:
        """The entry for a bibliography."""
        names = [name.strip() for name in self.authors.split(",")]
        fields = {
            "title": self.title,
            "author": " and ".join(names),
            "year": str(self.year),
            "eprint": self.arxiv,
            "archivePrefix": "arXiv" if self.arxiv else "",
            "howpublished": "" if self.arxiv else self.venue,
            "url": self.url,
        }
        kind = "article" if self.arxiv else "misc"
        key = (self.id if self.own else names[0].split()[-1].lower()) + str(self.year)
        return f"@{kind}{{{key}" + "".join(f",\n  {n} = {{{text}}}" for n, text in fields.items() if text) + "\n}"


# The papers whose statements are judged, by id; those of claims of one's own join them.
PAPERS = {
    paper.id: paper
    for paper in (
        Paper(
            "elsa",
            "ELSA",
            "An extension of linear self-attention for in-context learning",
            "Katsuyuki Hagiwara",
            2025,
            "2503.23814",
        ),
        Paper(
            "initial-guess",
            "Initial guess",
            "The Initialization Determines Whether In-Context Learning Is Gradient Descent",
            "Shifeng Xie, Rui Yuan, Simone Rossi, Thomas Hannagan",
            2025,
            "2512.04268",
            "TMLR 2025",
        ),
        Paper(
            "ltb",
            "LTB",
            "In-Context Learning of a Linear Transformer Block: "
            "Benefits of the MLP Component and One-Step GD Initialization",
            "Ruiqi Zhang, Jingfeng Wu, Peter L. Bartlett",
            2024,
            "2402.14951",
            "NeurIPS 2024",
        ),
        Paper(
            "linear-transformer",
            "Linear transformers",
            "Linear Transformers are Versatile In-Context Learners",
            "Max Vladymyrov, Johannes von Oswald, Mark Sandler, Rong Ge",
            2024,
            "2402.14180",
            "NeurIPS 2024",
        ),
        Paper("descant", "Ours", "Descant: descent by attention", "The Descant authors", 2026, own=True),
    )
}


def known(paper: Paper | str) -> Paper:
    """The paper of that name; or the paper itself, which is known from then on."""
    if isinstance(paper, str):
        if paper not in PAPERS:
            raise ValueError(
                f"paper is {paper!r}; expected one of: {', '.join(PAPERS)}; or a Paper(...), for one "
                "that is not among them."
            )
        return PAPERS[paper]
    if PAPERS.setdefault(paper.id, paper) != paper:
        raise ValueError(f"two papers have the id {paper.id!r}; expected each id once: give one of them another.")
    return paper
