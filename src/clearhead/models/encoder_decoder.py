"""The encoder-decoder skeleton: a decoder that reads an encoder's memory.

The paper's Transformer, Marian, BART, T5, Whisper.
"""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float, Int
from torch import Tensor, nn

from ..attention import Documents, Mask
from ..foundation.errors import ConfigError, InputError
from ..layers import WordInput, Words
from .decoder import Decoder, DecoderNetwork, Past
from .encoder import Encoder, EncoderNetwork
from .places import who_may_look
from .result import Result


@dataclass(frozen=True, kw_only=True)
class EncoderDecoder:
    """An encoder and a decoder that reads it.

    Args:
        shared_words: Both sides use one table of embeddings.
    """

    kind: Literal["encoder_decoder"] = "encoder_decoder"
    encoder: Encoder
    decoder: Decoder
    shared_words: bool = False

    def __post_init__(self) -> None:
        encoder, decoder = self.encoder, self.decoder
        if encoder.stack.width != decoder.stack.width:
            raise ConfigError(
                f"The encoder is {encoder.stack.width} wide and the decoder that reads it "
                f"{decoder.stack.width}: give both the same width."
            )
        ours = decoder.input
        theirs = encoder.input if isinstance(encoder.input, Words) else None
        if self.shared_words and (
            theirs is None or (theirs.vocabulary, theirs.width) != (ours.vocabulary, ours.width)
        ):
            given = f"{theirs.vocabulary} × {theirs.width}" if theirs else encoder.input.kind
            raise ConfigError(
                f"Both sides are to share one table of words: the decoder's is {ours.vocabulary} × "
                f"{ours.width} and the encoder's {given}. Make them alike, or do not share."
            )


class EncoderDecoderNetwork(nn.Module):
    """An encoder-decoder as a module."""

    def __init__(self, spec: EncoderDecoder) -> None:
        super().__init__()
        self.spec = spec
        self.encoder = EncoderNetwork(spec.encoder)
        self.decoder = DecoderNetwork(spec.decoder, reads_memory=True)
        self.share()

    def share(self) -> None:
        """Make both sides use one table where the spec says so. Loading weights calls it again."""
        if self.spec.shared_words and isinstance(self.encoder.input, WordInput):
            self.encoder.input.words = self.decoder.input.words

    def past(self, cache: Literal["growing", "static"] = "growing", *, capacity: int = 0) -> Past:
        """An empty past for the decoder."""
        return self.decoder.past(cache, capacity=capacity)

    def forward(  # noqa: PLR0913 - every kind of place a token can have
        self,
        source: Int[Tensor, "b s"] | Float[Tensor, "b c *yx"],
        target_ids_BT: Int[Tensor, "b t"],
        *,
        source_lengths_B: Int[Tensor, " b"] | None = None,
        source_starts_B: Int[Tensor, " b"] | None = None,
        source_types_BS: Int[Tensor, "b s"] | None = None,
        source_positions_BS: Int[Tensor, "b s"] | None = None,
        source_documents_BS: Int[Tensor, "b s"] | None = None,
        target_lengths_B: Int[Tensor, " b"] | None = None,
        target_starts_B: Int[Tensor, " b"] | None = None,
        target_types_BT: Int[Tensor, "b t"] | None = None,
        target_positions_BT: Int[Tensor, "b t"] | None = None,
        target_documents_BT: Int[Tensor, "b t"] | None = None,
        past: Past | None = None,
        memory_BSM: Float[Tensor, "b r m"] | None = None,
    ) -> Result:
        """Score what follows each of `target_ids_BT`, given a source.

        Args:
            source: Ids [B, S], or what the encoder takes instead (pictures, spectrograms).
            past: What the decoder saw before; the target tokens given now are added to it.
            memory_BSM: The encoder's result, when it is known from an earlier step.
        """
        if memory_BSM is None:
            encoded = self.encoder(
                source,
                lengths_B=source_lengths_B,
                starts_B=source_starts_B,
                types_BT=source_types_BS,
                positions_BT=source_positions_BS,
                documents_BT=source_documents_BS,
            )
            memory_BSM = encoded.hidden_BTM
        decoded = self.decoder(
            target_ids_BT,
            lengths_B=target_lengths_B,
            starts_B=target_starts_B,
            types_BT=target_types_BT,
            positions_BT=target_positions_BT,
            documents_BT=target_documents_BT,
            past=past,
            memory_BSM=memory_BSM,
            memory_mask=_memory_mask(
                source_lengths_B, source_starts_B, source_documents_BS, target_documents_BT
            ),
        )
        return Result(
            hidden_BTM=decoded.hidden_BTM,
            logits_BTV=decoded.logits_BTV,
            labels_BC=decoded.labels_BC,
            memory_BSM=memory_BSM,
        )


def _memory_mask(
    lengths_B: Tensor | None,
    starts_B: Tensor | None,
    source_documents: Tensor | None,
    target_documents: Tensor | None,
) -> Mask:
    documents = None
    if (source_documents is None) != (target_documents is None):
        raise InputError(
            "Document numbers were given for the source or the target alone: give both, so that "
            "each target reads its own source."
        )
    if source_documents is not None and target_documents is not None:
        documents = Documents(columns_BS=source_documents, rows_BT=target_documents)
    return who_may_look(
        causal=False, lengths_B=lengths_B, starts_B=starts_B, documents_BT=documents
    )
