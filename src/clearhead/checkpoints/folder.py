"""Our own folders: settings, weights, where they come from, and the vocabulary beside them.

clearhead.toml       what the network is made of
model.safetensors    the weights, under our names
provenance.json      where they come from
"""

import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from safetensors.torch import save_file
from torch import Tensor

from ..config import read, setting, to_toml
from ..foundation.errors import FileError
from ..foundation.json_file import read_json_if_there, write_json
from ..foundation.readers import let_the_usual_readers_in
from ..models import Architecture, EncoderDecoder, EncoderDecoderNetwork, Network
from ..tokens import read_preparation, read_vocabulary
from .files import read_weights
from .parts import Parts, Provenance, filled

SETTINGS = "clearhead.toml"
WEIGHTS = "model.safetensors"
ORIGIN = "provenance.json"
PART = "part-"  # what is being written
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What stands in `clearhead.toml`."""

    format: int = setting(FORMAT, help="of this folder", minimum=1)
    architecture: Architecture = setting(help="what the network is made of")


def read_own(folder: Path) -> Parts:
    """The model in one of our folders."""
    _refuse_newer(folder)
    stored = read(Stored, folder / SETTINGS)
    weights = read_weights(folder)
    if isinstance(stored.architecture, EncoderDecoder) and stored.architecture.shared_words:
        shared = weights.get("decoder.input.words.weight")
        if shared is not None:
            weights["encoder.input.words.weight"] = shared
    return Parts(
        network=filled(stored.architecture, weights),
        architecture=stored.architecture,
        vocabulary=read_vocabulary(folder),
        preparation=read_preparation(folder),
        provenance=_provenance(folder),
    )


def write_own(parts: Parts, folder: Path) -> None:
    """Write the model as one of our folders. A write that fails leaves what was there as it was."""
    _refuse_another(parts, folder)
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{PART}*"):  # by a program that was killed while it wrote
        rmtree(left)
    with TemporaryDirectory(dir=folder, prefix=PART) as beside:
        made = Path(beside)
        if parts.vocabulary is not None:
            parts.vocabulary.save(made)
        if parts.preparation is not None:
            parts.preparation.save(made)
        save_file(own_weights(parts.network), made / WEIGHTS, metadata={"format": "pt"})
        let_the_usual_readers_in(made / WEIGHTS)
        write_json(made / ORIGIN, asdict(parts.provenance))
        settings = to_toml(Stored(architecture=parts.architecture))
        (made / SETTINGS).write_text(settings, encoding="utf-8")
        for file in sorted(made.iterdir(), key=lambda file: file.name == SETTINGS):
            file.replace(folder / file.name)  # the settings last: they make it a model


def _refuse_newer(folder: Path) -> None:
    """Refuse a folder of a newer format, before its settings are found strange."""
    try:
        plain = tomllib.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return  # `read` says what is wrong
    found = plain.get("format")
    if isinstance(found, int) and found > FORMAT:
        raise FileError(
            f"{folder} has format {found} and this Clearhead reads up to {FORMAT}: "
            "update Clearhead (pip install --upgrade clearhead)."
        )


def _refuse_another(parts: Parts, folder: Path) -> None:
    """Refuse a folder whose other files would be taken for part of this model."""
    if (folder / "config.json").exists():
        raise FileError(
            f"{folder} holds a model in another form (config.json), which this one would "
            "overwrite: give a new folder."
        )
    if parts.vocabulary is None and read_vocabulary(folder) is not None:
        raise FileError(
            f"{folder} holds a vocabulary and this model has none, so it would be taken for its "
            "own: give a new folder."
        )


def _provenance(folder: Path) -> Provenance:
    found = read_json_if_there(folder / ORIGIN)
    known = {field.name for field in fields(Provenance)}
    return Provenance(**{"source": str(folder)} | {k: v for k, v in found.items() if k in known})


def own_weights(network: Network) -> dict[str, Tensor]:
    """The weights under our names, a shared table once."""
    weights = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    if isinstance(network, EncoderDecoderNetwork) and network.spec.shared_words:
        weights.pop("encoder.input.words.weight", None)
    return weights
