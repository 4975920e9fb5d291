"""GGUF files of small models, as llama.cpp's converter writes them."""

import gguf
import numpy as np

NAMES = {
    "model.embed_tokens.": "token_embd.",
    "model.norm.": "output_norm.",
    "lm_head.": "output.",
    "model.layers.": "blk.",
    ".self_attn.q_proj.": ".attn_q.",
    ".self_attn.k_proj.": ".attn_k.",
    ".self_attn.v_proj.": ".attn_v.",
    ".self_attn.o_proj.": ".attn_output.",
    ".self_attn.q_norm.": ".attn_q_norm.",
    ".self_attn.k_norm.": ".attn_k_norm.",
    ".mlp.gate_proj.": ".ffn_gate.",
    ".mlp.up_proj.": ".ffn_up.",
    ".mlp.down_proj.": ".ffn_down.",
    ".input_layernorm.": ".attn_norm.",
    ".post_attention_layernorm.": ".ffn_norm.",
}


def turned_like_llama_cpp(weight, heads):
    """Rows of each head, first half and second half interleaved: its converter's `permute`."""
    rows = weight.shape[0] // heads
    order = [
        head * rows + half * rows // 2 + row
        for head in range(heads)
        for row in range(rows // 2)
        for half in (0, 1)
    ]
    return weight[order]


def written(path, theirs, kind, *, quantised=None, leave_out=(), **extra):
    """Write the file of a published model; `extra` is more metadata, or changes it."""
    file = gguf.GGUFWriter(path, kind)
    for key, value in (sizes(theirs.config) | extra).items():
        if key not in leave_out:
            say(file, key if key.startswith("tokenizer.") else f"{kind}.{key}", value)
    for name, values in weights(theirs, kind).items():
        if name not in leave_out:
            add(file, name, values, quantised)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def sizes(config):
    """What a file says of its model."""
    heads = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rope = config.rope_parameters
    scaling = {"rope.scaling.type": "linear", "rope.scaling.factor": rope.get("factor")}
    return {
        "block_count": config.num_hidden_layers,
        "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size,
        "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.key_length": heads,
        "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "rope.dimension_count": heads,
        "rope.freq_base": float(rope["rope_theta"]),
        **(scaling if rope["rope_type"] == "linear" else {}),
    }


def say(file, key, value):
    """Write one piece of metadata."""
    if isinstance(value, list):
        file.add_array(key, value)
    elif isinstance(value, str):
        file.add_string(key, value)
    elif isinstance(value, bool):
        file.add_bool(key, value)
    elif isinstance(value, float):
        file.add_float32(key, value)
    else:
        file.add_uint32(key, value)


def weights(theirs, kind):
    """The weights under the names of llama.cpp."""
    config, found = theirs.config, {}
    turned = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for name, weight in theirs.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        heads = turned.get(name.split(".")[-2]) if kind == "llama" else None
        short = name
        for long, other in NAMES.items():
            short = short.replace(long, other)
        found[short] = weight if heads is None else turned_like_llama_cpp(weight, heads)
    rope = config.rope_parameters
    if rope["rope_type"] == "llama3":
        speeds = theirs.model.rotary_emb.inv_freq
        halves = np.arange(len(speeds)) / len(speeds)
        plain = rope["rope_theta"] ** -halves
        found["rope_freqs.weight"] = (plain / speeds.numpy()).astype(np.float32)
    return {name: np.asarray(weight) for name, weight in found.items()}


def add(file, name, values, quantised):
    """Write one weight; vectors are never quantised."""
    if quantised is None or values.ndim == 1:
        file.add_tensor(name, values)
    else:
        file.add_tensor(name, gguf.quantize(values, quantised), raw_dtype=quantised)
