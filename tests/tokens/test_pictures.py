"""Pictures become the pixels that `transformers` makes of them."""

import json
import sys

import numpy as np
import pytest
import torch
from PIL import Image
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from clearhead.foundation.errors import InputError, MissingPartError
from clearhead.tokens import Pictures, read_preparation

ROUNDING = 1e-6  # pixels are multiples of 1/255, scaled and shifted in float32 there


def picture(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


PROCESSORS = {
    "vit": ViTImageProcessorPil,
    "vit, small": lambda: ViTImageProcessorPil(
        size={"height": 20, "width": 12}, image_mean=[0.1, 0.5, 0.3], image_std=[0.2, 0.3, 0.9]
    ),
    "vit, plain": lambda: ViTImageProcessorPil(
        size={"height": 16, "width": 16}, do_normalize=False, resample=1
    ),
    "vit, as it comes": lambda: ViTImageProcessorPil(do_resize=False, do_rescale=False),
    "deit": lambda: DeiTImageProcessorPil(
        size={"height": 24, "width": 24}, crop_size={"height": 16, "width": 16}
    ),
    "deit, shorter edge": lambda: DeiTImageProcessorPil(
        size={"shortest_edge": 21}, crop_size={"height": 16, "width": 17}, rescale_factor=1 / 128
    ),
}


@pytest.mark.parametrize("name", PROCESSORS)
def test_pixels_are_those_of_transformers(name, tmp_path):
    theirs = PROCESSORS[name]()
    theirs.save_pretrained(tmp_path)
    ours = read_preparation(tmp_path)
    pictures = [picture(40, 31), picture(40, 31, seed=1)]
    expected = torch.from_numpy(np.stack(theirs(pictures)["pixel_values"]))
    found = ours.encode(pictures)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected.float(), rtol=1e-6, atol=ROUNDING)


@pytest.mark.parametrize("name", PROCESSORS)
def test_what_is_saved_reads_back_here_and_in_transformers(name, tmp_path):
    PROCESSORS[name]().save_pretrained(tmp_path)
    ours = read_preparation(tmp_path)
    ours.save(tmp_path / "again")
    assert read_preparation(tmp_path / "again") == ours
    kind = DeiTImageProcessorPil if ours.cut else ViTImageProcessorPil
    theirs = kind.from_pretrained(tmp_path / "again")
    pictures = [picture(40, 31)]
    expected = torch.from_numpy(np.stack(theirs(pictures)["pixel_values"]))
    torch.testing.assert_close(ours.encode(pictures), expected.float(), rtol=1e-6, atol=ROUNDING)


def test_older_settings_give_one_number_for_both_sizes(tmp_path):
    settings = {"size": 24, "crop_size": 16, "do_center_crop": True, "resample": 3}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings))
    assert read_preparation(tmp_path) == Pictures(size=(24, 24), cut=(16, 16), resampling="bicubic")


def test_a_folder_that_does_not_say_has_none(tmp_path):
    assert read_preparation(tmp_path) is None
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"feature_size": 80}))
    assert read_preparation(tmp_path) is None


def test_files_images_and_arrays_become_the_same_pixels(tmp_path):
    array = picture(9, 13)
    Image.fromarray(array).save(tmp_path / "a.png")
    ours = Pictures(size=(8, 8))
    expected = ours.encode([array])
    assert torch.equal(ours.encode([tmp_path / "a.png"]), expected)
    assert torch.equal(ours.encode([str(tmp_path / "a.png")]), expected)
    assert torch.equal(ours.encode([Image.fromarray(array).convert("RGBA")]), expected)


def test_grey_pictures_have_three_equal_channels():
    found = Pictures(size=(8, 8)).encode([Image.fromarray(picture(9, 9)[..., 0])])
    assert torch.equal(found[:, 0], found[:, 2])


def test_a_photograph_is_turned_the_way_its_camera_was_held(tmp_path):
    image, exif = Image.fromarray(picture(8, 16)), Image.Exif()
    exif[0x0112] = 6  # the camera stood on its side
    image.save(tmp_path / "a.png", exif=exif)
    ours = Pictures(size=None)
    upright = image.transpose(Image.Transpose.ROTATE_270)
    assert torch.equal(ours.encode([tmp_path / "a.png"]), ours.encode([upright]))


def test_a_file_that_is_no_picture_is_refused(tmp_path):
    (tmp_path / "a.png").write_text("no picture")
    with pytest.raises(InputError, match=r"a.png cannot be opened as a picture .* Give a PNG"):
        Pictures(size=(8, 8)).encode([tmp_path / "a.png"])
    with pytest.raises(InputError, match=r"b.png cannot be opened as a picture"):
        Pictures(size=(8, 8)).encode([tmp_path / "b.png"])


@pytest.mark.parametrize("array", [np.zeros((8, 8, 3)), np.zeros((3, 8, 8), dtype=np.uint8)])
def test_an_array_of_another_form_is_refused(array):
    with pytest.raises(
        InputError, match=r"\[height, width, 3\] of uint8, from 0 to 255, was wanted"
    ):
        Pictures(size=(8, 8)).encode([array])


def test_pictures_of_several_sizes_are_refused_in_one_batch():
    with pytest.raises(InputError, match=r"2 pictures of 2 sizes do not go into one batch"):
        Pictures(size=None).encode([picture(8, 8), picture(8, 9)])
    with pytest.raises(InputError, match=r"0 pictures of 0 sizes"):
        Pictures(size=None).encode([])


def test_a_picture_smaller_than_its_middle_is_refused():
    with pytest.raises(InputError, match=r"is 8 × 8 and its middle 16 × 16 was wanted"):
        Pictures(size=None, cut=(16, 16)).encode([picture(8, 8)])


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(MissingPartError, match=r"Reading a picture needs the package PIL.*media"):
        Pictures(size=(8, 8)).encode([picture(8, 8)])
