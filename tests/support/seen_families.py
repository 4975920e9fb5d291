"""Settings of tiny families that only the lens sees, and something for each model to read."""

import torch
from published import BERT, DISTILBERT, GPT2, LLAMA, SEQ2SEQ, SIZES, T5, VOCABULARY, Published

OPT = SIZES | {"ffn_dim": 24, "word_embed_proj_dim": 16, "dropout": 0.0}
VIT = {key: BERT[key] for key in SIZES if key in BERT and key != "vocab_size"} | {
    "image_size": 8,
    "patch_size": 4,
}
WHISPER = SEQ2SEQ | {
    "num_mel_bins": 8,
    "max_source_positions": 6,
    "max_target_positions": 20,
    "decoder_start_token_id": 2,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
MOE = LLAMA | {"head_dim": 8, "num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 3}
GEMMA = LLAMA | {
    "head_dim": 8,
    "query_pre_attn_scalar": 8,
    "sliding_window": 3,
    "attn_logit_softcapping": 2.0,
    "final_logit_softcapping": 3.0,
}
STARTS = {"decoder_start_token_id": 0, "num_decoder_layers": 2, "forced_eos_token_id": None}
ONE_SIDED = [
    Published("BertModel", "BertConfig", BERT),
    Published("DistilBertModel", "DistilBertConfig", DISTILBERT),
    Published("ElectraModel", "ElectraConfig", BERT | {"embedding_size": 8}),
    Published("ViTModel", "ViTConfig", VIT),
    Published("GPT2LMHeadModel", "GPT2Config", GPT2),
    Published("LlamaForCausalLM", "LlamaConfig", LLAMA),
    Published("MistralForCausalLM", "MistralConfig", LLAMA | {"sliding_window": 3}),
    Published("Qwen3ForCausalLM", "Qwen3Config", LLAMA | {"head_dim": 8}),
    Published("OPTForCausalLM", "OPTConfig", OPT),
    Published("GPTNeoXForCausalLM", "GPTNeoXConfig", SIZES),
    Published("Gemma2ForCausalLM", "Gemma2Config", GEMMA),
    Published("GptOssForCausalLM", "GptOssConfig", MOE),
]
TWO_SIDED = [
    Published("MarianMTModel", "MarianConfig", SEQ2SEQ | STARTS),
    Published("BartForConditionalGeneration", "BartConfig", SEQ2SEQ | STARTS),
    Published("T5ForConditionalGeneration", "T5Config", T5 | STARTS),
    Published("WhisperForConditionalGeneration", "WhisperConfig", WHISPER),
]
EAGER_ALONE = ("Gemma2ForCausalLM", "GptOssForCausalLM")


def inputs_of(published: Published, padding: str) -> dict[str, torch.Tensor]:
    """Two examples, the second three tokens shorter."""
    draw = torch.Generator().manual_seed(1)
    if published.model == "ViTModel":
        return {"pixel_values": torch.randn(2, 3, 8, 8, generator=draw)}
    ids = torch.randint(5, VOCABULARY, (2, 9), generator=draw)
    mask = torch.ones_like(ids)
    mask[1, slice(0, 3) if padding == "left" else slice(6, None)] = 0
    decoder = torch.randint(5, VOCABULARY, (2, 7), generator=draw)
    if published.model.startswith("Whisper"):
        sound = torch.randn(2, 8, 12, generator=draw)
        return {"input_features": sound, "decoder_input_ids": decoder}
    found = {"input_ids": ids, "attention_mask": mask}
    return found | ({"decoder_input_ids": decoder} if published.reads_two else {})
