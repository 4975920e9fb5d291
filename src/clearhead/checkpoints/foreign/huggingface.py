"""Hugging Face folders: config.json, safetensors (whole or sharded) or .bin, tokenizer files."""

from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from ...foundation.errors import CannotError, FileError
from ...foundation.json_file import read_json, write_json
from ...foundation.readers import let_the_usual_readers_in
from ...models import EncoderDecoder
from ...models.families import FAMILIES, Family, family_for
from ...tokens import read_preparation, read_vocabulary
from ..files import read_weights
from ..parts import Parts, Provenance, filled
from .weights import to_ours, to_theirs

# What a config says of the file it came with, or in a newer way than we write it.
OUTDATED = (
    "auto_map",
    "dtype",
    "quantization_config",
    "rope_parameters",
    "torch_dtype",
    "transformers_version",
)


def read_folder(folder: Path) -> Parts:
    """The model in a Hugging Face folder."""
    settings = read_json(folder / "config.json")
    if "auto_map" in settings and not settings.get("model_type"):
        raise CannotError(
            f"{folder} brings its own code (auto_map), which is never run here. Use a folder of "
            "one of the architectures built into the transformers library."
        )
    family, name = family_for(settings)
    architecture = family.read(settings, name)
    ours = to_ours(
        read_weights(folder),
        family.weights(architecture, name),
        ignored=family.ignored,
        copies=family.copies,
        elsewhere=family.elsewhere,
    )
    return Parts(
        network=filled(architecture, ours),
        architecture=architecture,
        vocabulary=read_vocabulary(folder),
        preparation=read_preparation(folder),
        provenance=Provenance(
            source=str(folder), family=family.name, published_as=name, settings=settings
        ),
    )


def write_folder(parts: Parts, folder: Path) -> None:
    """Write the model as a Hugging Face folder that its library opens."""
    family, name = _family_of(parts), parts.provenance.published_as
    theirs = to_theirs(parts.network.state_dict(), family.weights(parts.architecture, name))
    folder.mkdir(parents=True, exist_ok=True)
    save_file(theirs, folder / "model.safetensors", metadata={"format": "pt"})
    let_the_usual_readers_in(folder / "model.safetensors")
    write_json(folder / "config.json", _settings(parts, family))
    if parts.vocabulary is not None:
        parts.vocabulary.save(folder)
    if parts.preparation is not None:
        parts.preparation.save(folder)


def _settings(parts: Parts, family: Family) -> dict[str, Any]:
    """What a config says of this architecture, and what it said besides when it was read."""
    kept = {key: value for key, value in parts.provenance.settings.items() if key not in OUTDATED}
    settings = family.write(parts.architecture, parts.provenance.published_as)
    if isinstance(parts.architecture, EncoderDecoder):
        settings.setdefault("is_encoder_decoder", True)
    names = kept.get("id2label")
    if names and len(names) == len(settings.get("id2label", names)):
        settings["id2label"] = names
    return {**kept, **settings}


def _family_of(parts: Parts) -> Family:
    for family in FAMILIES:
        if family.name == parts.provenance.family:
            return family
    raise FileError(
        "This model does not come from a family others publish, so there is no foreign form to "
        f"write it in. Families: {', '.join(family.name for family in FAMILIES)}. "
        "Save it as a Clearhead folder instead."
    )
