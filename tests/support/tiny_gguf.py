"""A GGUF file of a llama that fits into a test: random weights, and a tokenizer that cuts at every byte but digits."""

from pathlib import Path

import numpy as np

WIDTH, HEADS, LAYERS, INNER = 32, 2, 2, 64


def alphabet() -> list[str]:
    """The bytes, as GPT-2 writes them, in the order of their values."""
    from tokenizers import pre_tokenizers  # pyright: ignore[reportMissingImports]

    return sorted(pre_tokenizers.ByteLevel.alphabet())


def write_tiny(path: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Write the file, in float32 but for one matrix of eight bits; its tensors by their names."""
    import gguf  # pyright: ignore[reportMissingImports]

    random = np.random.default_rng(seed)
    tokens = ["<|end|>", *alphabet(), "Ġg"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(2048)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, *[1] * (len(tokens) - 1)])
    writer.add_token_merges(["Ġ g"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(False)
    shapes = {"token_embd.weight": (len(tokens), WIDTH), "output_norm.weight": (WIDTH,)}
    for layer in range(LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[f"blk.{layer}.{name}.weight"] = (WIDTH, WIDTH)
        shapes[f"blk.{layer}.ffn_gate.weight"] = shapes[f"blk.{layer}.ffn_up.weight"] = (INNER, WIDTH)
        shapes[f"blk.{layer}.ffn_down.weight"] = (WIDTH, INNER)
        shapes[f"blk.{layer}.attn_norm.weight"] = shapes[f"blk.{layer}.ffn_norm.weight"] = (WIDTH,)
    shapes["output.weight"] = (len(tokens), WIDTH)
    tensors = {
        name: (1.0 if len(shape) == 1 else 0.0) + 0.3 * random.standard_normal(shape) for name, shape in shapes.items()
    }
    tensors = {name: each.astype(np.float32) for name, each in tensors.items()}
    for name, tensor in tensors.items():
        if name == "blk.0.ffn_up.weight":
            small = gguf.quants.quantize(tensor, gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor(name, small, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
            tensors[name] = gguf.quants.dequantize(small, gguf.GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tensors
