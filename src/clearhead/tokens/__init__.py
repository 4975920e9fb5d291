"""Text, pictures and sound as models take them: ids, pixels, spectrograms; and ids back to text."""

from .gguf_words import vocabulary_of_gguf as vocabulary_of_gguf
from .learned import Learned as Learned
from .pair import Pair as Pair
from .pictures import Pictures as Pictures
from .preparation import Preparation as Preparation
from .preparation import read_preparation as read_preparation
from .reading import read_tokenizer as read_tokenizer
from .reading import read_vocabulary as read_vocabulary
from .sound import Sounds as Sounds
from .specials import Specials as Specials
from .subwords import Subwords as Subwords
from .vocabulary import Encoded as Encoded
from .vocabulary import Vocabulary as Vocabulary
from .whisper_words import whisper_vocabulary as whisper_vocabulary

__all__ = [
    "Encoded",
    "Learned",
    "Pair",
    "Pictures",
    "Preparation",
    "Sounds",
    "Specials",
    "Subwords",
    "Vocabulary",
    "read_preparation",
    "read_tokenizer",
    "read_vocabulary",
    "vocabulary_of_gguf",
    "whisper_vocabulary",
]
