"""Every family we know: an explicit table. To add one: a file here and a line in it."""

from ...foundation.errors import UnknownModelError, nearest
from .bart import BART
from .bert import BERT
from .distilbert import DISTILBERT
from .electra import ELECTRA
from .family import Family, Settings
from .gpt2 import GPT2
from .llama import LLAMA
from .marian import MARIAN
from .roberta import ROBERTA
from .t5 import T5
from .vit import DEIT, VIT
from .whisper import WHISPER

FAMILIES: tuple[Family, ...] = (
    BERT,
    GPT2,
    LLAMA,
    MARIAN,
    T5,
    BART,
    ROBERTA,
    DISTILBERT,
    ELECTRA,
    VIT,
    DEIT,
    WHISPER,
)


def family_for(settings: Settings) -> tuple[Family, str]:
    """The family and the published class a config.json describes."""
    kind = settings.get("model_type")
    named = tuple(settings.get("architectures") or ())
    for family in FAMILIES:
        for name in named:
            if name in family.architectures:
                return family, name
        if kind in family.model_types and not named:
            return family, _first_of_kind(family, str(kind))
    wanted = named[0] if named else kind
    known = sorted(name for family in FAMILIES for name in family.architectures)
    raise UnknownModelError(
        f"The architecture {wanted!r} is not one we know."
        f"{nearest(str(wanted), known)} Known: {', '.join(known)}."
    )


def _first_of_kind(family: Family, kind: str) -> str:
    """The class assumed where a config names none: the first that starts like its model type."""
    plain = kind.replace("_", "").replace("-", "")
    return next(
        (name for name in family.architectures if name.lower().startswith(plain)),
        family.architectures[0],
    )
