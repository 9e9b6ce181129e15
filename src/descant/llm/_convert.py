"""A GGUF file as a folder of safetensors, made once: reading GGUF takes half a minute each time.

Tensors are unpacked one after the other and written in shards, so that a shard is what is in memory, and not the model
twice. Files whose tensors have to be gathered first (mixtures of experts) are converted whole, by `transformers`.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Bytes of unpacked tensors that are in memory at a time, or one tensor if that is larger.
SHARD = 512 << 20
# Says that a folder was made from a GGUF file, and how its prompts begin.
NOTE = "descant.json"
# What a file that is none, or of a kind that is not known, may raise.
WRONG = (OSError, ValueError, KeyError, RuntimeError, NotImplementedError, IndexError, TypeError)


def convert(file: Path, sha256: str, folder: Path, say: Callable[[str], None]) -> None:
    """Write the folder; `say` is told what it will take."""
    from gguf import GGUFReader  # pyright: ignore[reportMissingImports]
    from transformers import AutoTokenizer  # pyright: ignore[reportMissingImports]

    try:
        reader = GGUFReader(file)
        numbers = sum(int(tensor.n_elements) for tensor in reader.tensors)
        free = shutil.disk_usage(folder.parent).free
        say(f"converting {file.name} to safetensors, once: {4 * numbers / 1e9:.1f} GB on disk, in pieces")
        if 4 * numbers > free:
            raise ValueError(f"{4 * numbers / 1e9:.1f} GB are needed in {folder.parent}, and {free / 1e9:.1f} are free")
        tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)
        folder.mkdir()
        if not _in_pieces(reader, file, folder):
            say(f"{file.name} can't be converted in pieces: about {12 * numbers / 1e9:.1f} GB of memory are needed")
            _whole(file, folder)
        tokenizer.save_pretrained(folder)
    except WRONG as error:
        raise ValueError(f"{file} can't be read as GGUF: {' '.join(str(error).split())[:300]}") from None
    bos = begins_with_bos(*_facts(reader)) and tokenizer.bos_token_id is not None
    (folder / NOTE).write_text(json.dumps({"from": file.name, "sha256": sha256, "bos": bos}))
    for path in folder.iterdir():
        path.chmod(0o644)


def _in_pieces(reader: Any, file: Path, folder: Path) -> bool:
    """Whether it could be done: not for models whose tensors are put together from several."""
    import torch  # pyright: ignore[reportMissingImports]
    from gguf import dequantize  # pyright: ignore[reportMissingImports]
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModelForCausalLM  # pyright: ignore[reportMissingImports]

    try:
        from transformers.modeling_gguf_pytorch_utils import (  # pyright: ignore[reportMissingImports]
            TENSOR_PROCESSORS,
            TensorProcessor,
            get_gguf_hf_weights_map,
            load_gguf_checkpoint,
        )
    except ImportError:  # another version of transformers
        return False
    config = AutoConfig.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)
    with torch.device("meta"):
        model: Any = AutoModelForCausalLM.from_config(config)
    parsed = load_gguf_checkpoint(str(file), return_tensors=False)
    processor = TENSOR_PROCESSORS.get(_facts(reader)[0], TensorProcessor)(config=parsed["config"])
    names = get_gguf_hf_weights_map(model, processor)
    parsed["tensors"] = {}
    shards: list[dict[str, Any]] = [{}]
    where: dict[str, int] = {}
    size = total = 0

    def write() -> None:
        save_file(shards[-1], folder / f"part-{len(shards)}.safetensors", metadata={"format": "pt"})
        shards[-1] = {}

    for tensor in reader.tensors:
        unpacked = dequantize(tensor.data, tensor.tensor_type)
        found = processor.process(
            weights=unpacked, name=tensor.name, tensor_key_mapping=names, parsed_parameters=parsed
        )
        if parsed["tensors"]:  # gathered, to be written when all have come
            for path in folder.glob("part-*"):
                path.unlink()
            return False
        if found.name not in names:
            continue
        value = torch.from_numpy(found.weights.copy())
        if size and size + value.nbytes > SHARD:
            write()
            shards.append({})
            size = 0
        shards[-1][names[found.name]] = value
        where[names[found.name]] = len(shards)
        size += value.nbytes
        total += value.nbytes
    write()
    _index(folder, where, len(shards), total)
    config.architectures = [type(model).__name__]
    config.dtype = torch.float32
    config.save_pretrained(folder)
    return True


def _index(folder: Path, where: dict[str, int], shards: int, total: int) -> None:
    """Names of files as `transformers` looks for them, and which tensor is in which."""
    names = [f"model-{place:05d}-of-{shards:05d}.safetensors" for place in range(1, shards + 1)]
    for place, name in enumerate(names, 1):
        (folder / f"part-{place}.safetensors").rename(folder / name)
    index = {
        "metadata": {"total_size": total},
        "weight_map": {tensor: names[place - 1] for tensor, place in where.items()},
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _whole(file: Path, folder: Path) -> None:
    import torch  # pyright: ignore[reportMissingImports]
    from transformers import AutoModelForCausalLM  # pyright: ignore[reportMissingImports]

    model: Any = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, local_files_only=True, dtype=torch.float32
    )
    # The weights are plain numbers now, but the model still says that it is quantized and could not be saved.
    model.hf_quantizer = None
    model.config.__dict__.pop("quantization_config", None)
    model.save_pretrained(folder)


def begins_with_bos(architecture: str, flag: bool | None) -> bool:
    """Whether prompts of a GGUF model begin with its first token. Gemma is lost without, whatever the file says."""
    return bool(flag) or architecture.startswith("gemma")


def _facts(reader: Any) -> tuple[str, bool | None]:
    flag = reader.fields.get("tokenizer.ggml.add_bos_token")
    architecture = reader.fields.get("general.architecture")
    return str(architecture.contents()) if architecture else "", None if flag is None else bool(flag.contents())
