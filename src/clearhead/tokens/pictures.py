"""Pictures to pixels as a model takes them: resized, perhaps cut to the middle, normalised."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from ..foundation.errors import InputError
from ..foundation.json_file import read_json_if_there, write_json
from ..foundation.optional import need

RESAMPLING = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # as pillow numbers


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """How pictures become pixels.

    Args:
        size: Height and width every picture is resized to; one number makes the shorter edge that
            long and keeps the form; None leaves pictures as they are.
        cut: Height and width of the middle that is kept, if not all.
        resampling: How pixels are made from pixels, by pillow's name.
        scale: Multiplies pixels, which go from 0 to 255, before mean and deviation.
    """

    size: tuple[int, int] | int | None
    cut: tuple[int, int] | None = None
    resampling: str = "bilinear"
    scale: float = 1 / 255
    mean: tuple[float, ...] = (0.5, 0.5, 0.5)
    deviation: tuple[float, ...] = (0.5, 0.5, 0.5)

    def encode(self, pictures: Sequence[Any]) -> Float[Tensor, "b c y x"]:
        """The pixels of picture files, pillow images or arrays [height, width, 3] of 0 to 255."""
        found = [self._pixels(each) for each in pictures]
        sizes = {pixels.shape for pixels in found}
        if len(sizes) != 1:
            raise InputError(
                f"{len(found)} pictures of {len(sizes)} sizes do not go into one batch. Give one "
                "or more pictures of the same size."
            )
        return torch.from_numpy(np.stack(found))

    def _pixels(self, picture: Any) -> NDArray[np.float32]:
        image = _opened(picture)
        if self.size is not None:
            height, width = _resized(self.size, image)
            image = image.resize((width, height), resample=RESAMPLING.index(self.resampling))
        if self.cut is not None:
            image = _middle(image, self.cut)
        scaled = np.asarray(image, dtype=np.float64) * self.scale
        normed = (scaled - np.array(self.mean)) / np.array(self.deviation)
        return np.ascontiguousarray(normed.transpose(2, 0, 1), dtype=np.float32)

    def save(self, folder: Path) -> None:
        """Write preprocessor_config.json, which `transformers` reads too."""
        folder.mkdir(parents=True, exist_ok=True)
        kind = "ViT" if self.cut is None else "DeiT"
        settings: dict[str, Any] = {
            "image_processor_type": f"{kind}ImageProcessor",
            "do_resize": self.size is not None,
            "resample": RESAMPLING.index(self.resampling),
            "do_rescale": True,
            "rescale_factor": self.scale,
            "do_normalize": True,
            "image_mean": list(self.mean),
            "image_std": list(self.deviation),
        }
        if isinstance(self.size, int):
            settings["size"] = {"shortest_edge": self.size}
        elif self.size is not None:
            settings["size"] = dict(zip(("height", "width"), self.size, strict=True))
        if self.cut is not None:
            settings["do_center_crop"] = True
            settings["crop_size"] = dict(zip(("height", "width"), self.cut, strict=True))
        write_json(folder / "preprocessor_config.json", settings)


def read_pictures(folder: Path) -> Pictures | None:
    """How a folder's model takes pictures; None when the folder does not say."""
    settings = read_json_if_there(folder / "preprocessor_config.json")
    settings = settings or read_json_if_there(folder / "processor_config.json").get(
        "image_processor", {}
    )
    if "image_mean" not in settings and "size" not in settings:
        return None
    normed, scaled = settings.get("do_normalize", True), settings.get("do_rescale", True)
    cut = settings.get("crop_size", 224) if settings.get("do_center_crop", False) else None
    return Pictures(
        size=_size(settings.get("size", 224)) if settings.get("do_resize", True) else None,
        cut=None if cut is None else _both(cut),
        resampling=RESAMPLING[settings.get("resample", 2)],
        scale=settings.get("rescale_factor", 1 / 255) if scaled else 1.0,
        mean=tuple(settings.get("image_mean", (0.5,) * 3)) if normed else (0.0,) * 3,
        deviation=tuple(settings.get("image_std", (0.5,) * 3)) if normed else (1.0,) * 3,
    )


def _size(given: Mapping[str, int] | int) -> tuple[int, int] | int:
    if isinstance(given, Mapping) and "shortest_edge" in given:
        return given["shortest_edge"]
    return _both(given)


def _both(given: Mapping[str, int] | int) -> tuple[int, int]:
    """Height and width; older files give one number for both."""
    return (given, given) if isinstance(given, int) else (given["height"], given["width"])


def _opened(picture: Any) -> Any:
    purpose = "Reading a picture"
    pillow = need("PIL.Image", extra="media", purpose=purpose)
    if isinstance(picture, str | Path):
        try:
            with pillow.open(picture) as image:
                turned = need("PIL.ImageOps", extra="media", purpose=purpose).exif_transpose(image)
                return turned.convert("RGB")
        except OSError as error:
            raise InputError(
                f"{picture} cannot be opened as a picture ({error}). Give a PNG, JPEG or another "
                "picture file."
            ) from error
    if isinstance(picture, pillow.Image):
        return picture.convert("RGB")
    array = np.asarray(picture)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3:
        raise InputError(
            f"A picture came as an array {array.shape} of {array.dtype}; [height, width, 3] of "
            "uint8, from 0 to 255, was wanted."
        )
    return pillow.fromarray(array)


def _resized(size: tuple[int, int] | int, image: Any) -> tuple[int, int]:
    if not isinstance(size, int):
        return size
    shorter = min(image.height, image.width)
    return int(size * image.height / shorter), int(size * image.width / shorter)


def _middle(image: Any, cut: tuple[int, int]) -> Any:
    height, width = cut
    if image.height < height or image.width < width:
        raise InputError(
            f"The picture is {image.height} × {image.width} and its middle {height} × {width} was "
            "wanted: give a larger picture."
        )
    top, left = (image.height - height) // 2, (image.width - width) // 2
    return image.crop((left, top, left + width, top + height))
