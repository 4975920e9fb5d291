"""A model people use: a network, its vocabulary, what it is made of, where it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from ..checkpoints.folder import write_own
from ..checkpoints.foreign.huggingface import write_folder
from ..checkpoints.parts import Parts, Provenance
from ..foundation.errors import CannotError, InputError
from ..inference.greedy import greedy
from ..inference.session import Session
from ..models import Architecture, DecoderNetwork, EncoderNetwork, Network
from ..tokens import Preparation, Vocabulary
from .batch import Batch, check_texts, padded
from .translating import search_for, text_translator, translate


@dataclass(frozen=True, kw_only=True)
class Model:
    """What `load` returns. `network` is a plain `nn.Module`; the verbs here speak of text.

    `preparation` turns pictures or sound into what the network takes, where that is known.
    """

    network: Network
    tokens: Vocabulary | None
    config: Architecture
    provenance: Provenance
    preparation: Preparation | None = None

    @property
    def device(self) -> torch.device:
        """Where the network's weights are."""
        return next(self.network.parameters()).device

    def vocabulary(self) -> Vocabulary:
        """The vocabulary, or a sentence why there is no text here."""
        if self.tokens is None:
            raise CannotError(
                f"The model from {self.provenance.source} came without a tokenizer, so it cannot "
                "read or write text. Put tokenizer.json beside its weights, or give ids to "
                ".network."
            )
        return self.tokens

    def batch(self, texts: Sequence[str]) -> Batch:
        """Texts as the network takes them."""
        vocabulary = self.vocabulary()
        check_texts(texts)
        return padded([vocabulary.encode(text) for text in texts], self.device)

    def embed(self, texts: Sequence[str]) -> Float[Tensor, "b m"]:
        """One vector of length 1 a text: the mean of its tokens' hidden vectors."""
        if not isinstance(self.network, EncoderNetwork):
            raise CannotError(
                "Only an encoder makes one vector of a text, and this model is not one. "
                "Load an encoder, for example minilm."
            )
        batch = self.batch(texts)
        if not batch.lengths_B.all():
            empty = texts[int(batch.lengths_B.argmin())]
            raise InputError(
                f"The text {empty!r} has no tokens, so it has no vector: leave it out."
            )
        with torch.inference_mode():
            types = batch.types_BT if self.network.input.types is not None else None
            hidden_BTM = self.network(
                batch.ids_BT, lengths_B=batch.lengths_B, types_BT=types
            ).hidden_BTM
        count_T = torch.arange(hidden_BTM.shape[1], device=self.device)
        real_BT1 = (count_T < batch.lengths_B[:, None])[..., None].to(hidden_BTM.dtype)
        mean_BM: Tensor = (hidden_BTM * real_BT1).sum(1) / real_BT1.sum(1)
        return normalize(mean_BM, dim=-1)

    def generate(self, prompt: str | Sequence[int], *, max_tokens: int = 64) -> str:
        """Continue a prompt with the likeliest token, again and again (greedy)."""
        network = self.network
        if isinstance(network, EncoderNetwork):
            raise CannotError(
                "This model is an encoder: it reads text and cannot write any. Load a decoder or "
                "an encoder-decoder to generate, for example smollm2."
            )
        if not isinstance(network, DecoderNetwork):
            raise CannotError(
                "This model is an encoder-decoder, which answers a text and does not continue one: "
                "call translate."
            )
        vocabulary = self.vocabulary()
        ids = list(vocabulary.encode(prompt).ids) if isinstance(prompt, str) else list(prompt)
        if not ids:
            raise InputError("The prompt has no tokens to continue: give at least one word.")
        stops = vocabulary.specials.ends
        prompt_BT = torch.tensor([ids], device=self.device)
        (new,) = greedy(Session(network), prompt_BT, max_tokens=max_tokens, stops=stops)
        return vocabulary.decode(new)

    def translate(
        self,
        texts: Sequence[str],
        *,
        beams: int = 4,
        max_tokens: int | None = None,
        alpha: float = 1.0,
    ) -> list[str]:
        """Each text's best answer, by beam search with an encoder-decoder of text.

        An answer does not depend on its neighbours. What a published model's settings say of
        searching (forced tokens, no repeated phrases, lengths) is not heard.

        Args:
            max_tokens: At most this many tokens an answer, the one that ends it counted; where
                left out, 50 more than its source has, within the positions the model learned.
            alpha: An answer's score is its log-probability by its length ** alpha: more favours
                longer answers, 0 leaves the length out.
        """
        network, vocabulary = text_translator(self.network), self.vocabulary()
        search = search_for(network, vocabulary, beams=beams, alpha=alpha)
        return translate(network, vocabulary, texts, search, max_tokens=max_tokens)

    def save(self, folder: Path | str, *, form: str = "clearhead") -> None:
        """Write the model as one of our folders, or with `form="huggingface"` as one of theirs."""
        parts = Parts(
            network=self.network,
            architecture=self.config,
            vocabulary=self.tokens,
            preparation=self.preparation,
            provenance=self.provenance,
        )
        writers = {"clearhead": write_own, "huggingface": write_folder}
        if form not in writers:
            raise InputError(
                f"There is no form {form!r} to save a model in. There are: {', '.join(writers)}."
            )
        writers[form](parts, Path(folder))
