"""The names OpenAI gives Whisper's weights, for those they have in a Hugging Face folder."""

# As the converter in `transformers` has them, the other way round.
NAMES = {
    "model.": "",
    "layers": "blocks",
    "fc1": "mlp.0",
    "fc2": "mlp.2",
    "final_layer_norm": "mlp_ln",
    "self_attn.q_proj": "attn.query",
    "self_attn.k_proj": "attn.key",
    "self_attn.v_proj": "attn.value",
    "self_attn.out_proj": "attn.out",
    "self_attn_layer_norm": "attn_ln",
    "encoder_attn.q_proj": "cross_attn.query",
    "encoder_attn.k_proj": "cross_attn.key",
    "encoder_attn.v_proj": "cross_attn.value",
    "encoder_attn.out_proj": "cross_attn.out",
    "encoder_attn_layer_norm": "cross_attn_ln",
    "decoder.layer_norm": "decoder.ln",
    "encoder.layer_norm": "encoder.ln_post",
    "embed_tokens": "token_embedding",
    "embed_positions.weight": "positional_embedding",
}


def theirs_from(weights):
    """The weights under OpenAI's names; the scores are the embeddings, which come once."""
    found = {}
    for name, weight in weights.items():
        short = name
        for long, other in NAMES.items():
            short = short.replace(long, other)
        found[short] = weight
    del found["proj_out.weight"]
    return found


def published_from(theirs, names):
    """OpenAI's weights under the names of a Hugging Face folder."""
    named = dict(zip(theirs_from({name: name for name in names}), names, strict=False))
    words = {"proj_out.weight": theirs["decoder.token_embedding.weight"]}
    return {named[name]: weight for name, weight in theirs.items()} | words
