"""Tiny models as `transformers` builds them, every number in them random, for parity tests.

No setting and no weight is at its default, so that one that is forgotten or mixed up shows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers
from transformers.utils import logging

logging.set_verbosity_error()
logging.disable_progress_bar()

TOLERANCE = 1e-4
VOCABULARY = 40
LENGTHS = (9, 14, 4)
LONGEST = max(LENGTHS)


@dataclass(frozen=True)
class Published:
    """A published class with tiny settings."""

    model: str
    config: str
    settings: dict[str, Any]
    note: str = ""
    change: Callable[[Any], None] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.model} {self.note}".strip()

    @property
    def reads_two(self) -> bool:
        """Whether it is an encoder-decoder."""
        return self.config in ("T5Config", "BartConfig", "MarianConfig") and (
            self.model != "T5EncoderModel"
        )

    @property
    def decodes(self) -> bool:
        """Whether it has a decoder."""
        ends = ("ForCausalLM", "LMHeadModel")
        kinds = ("GPT2", "Llama", "Mistral", "Qwen2", "Qwen3")
        return self.reads_two or self.model.endswith(ends) or self.model.startswith(kinds)

    def draw(self, seed: int = 0) -> transformers.PreTrainedModel:
        """The model with random numbers everywhere, dropout off."""
        config = getattr(transformers, self.config)(**self.settings)
        model = getattr(transformers, self.model)(config).eval()
        if self.change is not None:
            self.change(model)
        draw = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if weight.requires_grad:
                    weight.copy_(_numbers(name, weight.shape, draw))
            for name, buffer in model.named_buffers():
                if name == "final_logits_bias":
                    buffer.copy_(_numbers(name, buffer.shape, draw))
        return model


def _numbers(name: str, shape: torch.Size, draw: torch.Generator) -> torch.Tensor:
    """Weights that neither vanish nor saturate; embeddings so small that a wrong epsilon shows."""
    numbers = torch.randn(shape, generator=draw)
    if len(shape) == 1 and name.endswith("weight"):
        return 1 + 0.3 * numbers
    small = "embed" in name or "shared" in name or "wte" in name or "wpe" in name
    return (0.1 if small else 0.3) * numbers


def _of(config: str, settings: dict[str, Any], *models: str, **notes: dict[str, Any]) -> list[Any]:
    """The classes with these settings, and the first again with each note's changes."""
    found = [Published(model, config, settings) for model in models]
    return found + [
        Published(models[0], config, settings | changes, note.replace("_", " "))
        for note, changes in notes.items()
    ]


SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 20,
}
BERT = SIZES | {
    "layer_norm_eps": 0.01,
    "type_vocab_size": 3,
    "hidden_dropout_prob": 0.21,
    "attention_probs_dropout_prob": 0.22,
    "classifier_dropout": 0.23,
    "num_labels": 3,
    "hidden_act": "gelu_new",
}
ROPE = {"rope_theta": 500.0}
LLAMA = SIZES | {
    "num_key_value_heads": 2,
    "rms_norm_eps": 0.01,
    "attention_dropout": 0.22,
    "rope_parameters": ROPE | {"rope_type": "default"},
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
LINEAR = {"rope_type": "linear", "factor": 2.0}
SEQ2SEQ = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "max_position_embeddings": 20,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 28,
    "dropout": 0.21,
    "attention_dropout": 0.22,
    "activation_dropout": 0.24,
    "pad_token_id": 1,
}
T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "d_kv": 6,
    "d_ff": 24,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 4,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 11,
    "layer_norm_epsilon": 0.01,
    "dropout_rate": 0.21,
}
GPT2 = {
    "vocab_size": VOCABULARY,
    "n_embd": 16,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 20,
    "n_inner": 24,
    "layer_norm_epsilon": 0.01,
    "resid_pdrop": 0.21,
    "attn_pdrop": 0.22,
    "embd_pdrop": 0.23,
}
DISTILBERT = {
    "vocab_size": VOCABULARY,
    "dim": 16,
    "n_layers": 2,
    "n_heads": 4,
    "hidden_dim": 24,
    "max_position_embeddings": 20,
    "dropout": 0.21,
    "attention_dropout": 0.22,
    "seq_classif_dropout": 0.23,
    "num_labels": 3,
}


def _own_scores(model: Any) -> None:
    """Untie the scores of T5 1.1, which `transformers` ties when it builds the model itself."""
    model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.lm_head.weight))
    model.all_tied_weights_keys.pop("lm_head.weight")


V11 = T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}

PUBLISHED: list[Published] = [
    *_of(
        "BertConfig",
        BERT,
        "BertModel",
        "BertForMaskedLM",
        "BertForSequenceClassification",
        relu={"hidden_act": "relu"},
        gelu={"hidden_act": "gelu", "layer_norm_eps": 1e-12},
    ),
    *_of("RobertaConfig", BERT, "RobertaModel", padding_id_3={"pad_token_id": 3}),
    *_of("RobertaConfig", BERT, "RobertaForMaskedLM", "RobertaForSequenceClassification"),
    *_of("XLMRobertaConfig", BERT, "XLMRobertaModel", "XLMRobertaForMaskedLM"),
    *_of("XLMRobertaConfig", BERT, "XLMRobertaForSequenceClassification"),
    *_of(
        "ElectraConfig",
        BERT | {"embedding_size": 8},
        "ElectraModel",
        "ElectraForMaskedLM",
        "ElectraForPreTraining",
        "ElectraForSequenceClassification",
        as_wide_as_its_blocks={"embedding_size": 16},
    ),
    *_of(
        "DistilBertConfig",
        DISTILBERT,
        "DistilBertModel",
        "DistilBertForMaskedLM",
        "DistilBertForSequenceClassification",
        relu={"activation": "relu"},
    ),
    *_of(
        "GPT2Config",
        GPT2,
        "GPT2LMHeadModel",
        "GPT2Model",
        relu={"activation_function": "relu", "n_inner": None},
        no_scale={"scale_attn_weights": False},
        untied={"tie_word_embeddings": False},
    ),
    *_of(
        "LlamaConfig",
        LLAMA,
        "LlamaForCausalLM",
        "LlamaModel",
        tied={"tie_word_embeddings": True},
        biases={"attention_bias": True, "mlp_bias": True},
        heads_of_their_own_width={"head_dim": 6},
        llama3={"rope_parameters": ROPE | LLAMA3},
        linear={"rope_parameters": ROPE | LINEAR},
    ),
    *_of("MistralConfig", LLAMA | {"sliding_window": 4}, "MistralForCausalLM", "MistralModel"),
    *_of("MistralConfig", LLAMA, "MistralForCausalLM", no_window={"sliding_window": None})[1:],
    *_of(
        "Qwen2Config",
        LLAMA,
        "Qwen2ForCausalLM",
        "Qwen2Model",
        window_from_layer_1={
            "use_sliding_window": True,
            "sliding_window": 3,
            "max_window_layers": 1,
        },
        tied={"tie_word_embeddings": True},
    ),
    *_of(
        "Qwen3Config",
        LLAMA | {"head_dim": 6},
        "Qwen3ForCausalLM",
        "Qwen3Model",
        biases={"attention_bias": True, "tie_word_embeddings": True},
    ),
    *_of(
        "MarianConfig",
        SEQ2SEQ | {"activation_function": "swish", "scale_embedding": True},
        "MarianMTModel",
        "MarianModel",
        two_vocabularies={"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 30},
        untied={"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
        no_scale={"scale_embedding": False, "activation_function": "relu"},
    ),
    *_of(
        "BartConfig",
        SEQ2SEQ | {"scale_embedding": True},
        "BartForConditionalGeneration",
        "BartModel",
        no_scale={"scale_embedding": False, "activation_function": "relu"},
    ),
    *_of("T5Config", T5, "T5ForConditionalGeneration", "T5Model", "T5EncoderModel"),
    *_of("T5Config", T5, "T5ForConditionalGeneration", silu={"feed_forward_proj": "gated-silu"})[
        1:
    ],
    Published("T5ForConditionalGeneration", "T5Config", V11, "1.1", _own_scores),
    Published("T5ForConditionalGeneration", "T5Config", V11, "1.1 with tied scores"),
    Published("T5EncoderModel", "T5Config", V11, "1.1"),
]

READERS = [case for case in PUBLISHED if not case.reads_two]
TRANSLATORS = [case for case in PUBLISHED if case.reads_two]
DECODERS = [case for case in PUBLISHED if case.decodes]


@dataclass(frozen=True)
class Said:
    """What a model makes of a text: hidden vectors, scores of any kind, an encoder's memory."""

    hidden: torch.Tensor
    scores: torch.Tensor | None = None
    memory: torch.Tensor | None = None


def theirs_says(model: transformers.PreTrainedModel, **inputs: Any) -> Said:
    """What `transformers` makes of it."""
    with torch.no_grad():
        found = model(**inputs, output_hidden_states=True)
    states = found.get("decoder_hidden_states", found.get("hidden_states"))
    scores = found.get("logits", found.get("pooler_output"))
    return Said(states[-1], scores, found.get("encoder_last_hidden_state"))


def ours_says(network: torch.nn.Module, *inputs: Any, **named: Any) -> Said:
    """What we make of it. Scores of one label lose their last axis, as `transformers` has it."""
    with torch.no_grad():
        found = network(*inputs, **named)
    possible = (found.logits_BTV, found.labels_BC, found.pooled_BM)
    scores = next((each for each in possible if each is not None), None)
    if scores is not None and scores.shape[-1] == 1:
        scores = scores.squeeze(-1)
    return Said(found.hidden_BTM, scores, found.memory_BSM)


def text(seed: int, *shape: int) -> torch.Tensor:
    """Ids drawn from a seed, none of them special, all within the smallest vocabulary."""
    return torch.randint(4, 30, shape, generator=torch.Generator().manual_seed(seed))


def padded(ids: torch.Tensor, lengths: tuple[int, ...], side: str, filler: int) -> torch.Tensor:
    """The first tokens of each row, `lengths` of them, at the other side of the padding."""
    found = torch.full_like(ids, filler)
    for row, length in enumerate(lengths):
        found[row, real(length, ids.shape[1], side)] = ids[row, :length]
    return found


def real(length: int, longest: int, side: str) -> slice:
    """Where a text of this length stands in a row."""
    return slice(longest - length, longest) if side == "left" else slice(0, length)


def bounds(lengths: tuple[int, ...], longest: int, side: str, name: str = "") -> dict[str, Any]:
    """Where texts begin or end, as our networks are told."""
    if side == "left":
        return {f"{name}starts_B": longest - torch.tensor(lengths)}
    return {f"{name}lengths_B": torch.tensor(lengths)}
