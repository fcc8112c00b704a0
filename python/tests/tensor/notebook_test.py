"""What a notebook and IPython show of a tensor."""

import base64
import io
import re

import numpy as np
import pytest

import dovetail as dt


def picture(tensor):
    """The pixels of the picture, as a decoder sees them: (height, width, 3 or 4), of uint8."""
    import matplotlib.image  # here, so that the other tests run where it is not installed

    data = re.search(r'src="data:image/png;base64,([^"]+)"', tensor._repr_html_())[1]
    read = matplotlib.image.imread(io.BytesIO(base64.b64decode(data)), "png")
    return (read * 255).round().astype(np.uint8)


def colours(pixels):
    return [tuple(pixel[:3]) for pixel in pixels.reshape(-1, pixels.shape[-1])]


@pytest.mark.parametrize("channels", [3, 4])
def test_an_image_is_shown_as_it_is(channels):
    a = np.random.default_rng(0).integers(0, 256, (20, 30, channels), np.uint8)
    np.testing.assert_array_equal(picture(dt.from_dlpack(a)), a)
    np.testing.assert_array_equal(picture(dt.from_dlpack(a[::-1, ::2])), a[::-1, ::2])


def test_a_heat_map_goes_from_dark_to_bright():
    shown = picture(dt.arange(12, dtype=dt.float32).reshape(3, 4))
    assert shown.shape[:2] == (3, 4)
    brightness = shown[..., :3].astype(int).sum(-1).reshape(-1)
    assert (np.diff(brightness) > 0).all()
    assert colours(shown)[0] == (68, 1, 84) and colours(shown)[-1] == (253, 231, 37)


def test_values_that_are_not_finite_have_colours():
    inf, nan = float("inf"), float("nan")
    low, high, *rest = colours(picture(dt.tensor([[0, 1, nan, inf], [0, 1, -inf, nan]])))
    assert rest == [(160,) * 3, high, low, high, low, (160,) * 3]
    assert len(set(colours(picture(dt.full((3, 3), nan))))) == 1


@pytest.mark.parametrize(
    "dtype", ["bool", "int4", "uint8", "int64", "bfloat16", "float8_e4m3fn", "float4_e2m1fn"]
)
def test_every_type_of_numbers_has_a_heat_map(dtype):
    t = dt.zeros((3, 4), dtype=dtype)
    t[0] = 1
    assert len(set(colours(picture(t)))) == 2


def test_a_large_tensor_shows_every_nth_element():
    t = dt.zeros((1000, 300))
    t[::4, 4] = 1
    text = t._repr_html_()
    assert "; every 4th row and every 4th column<" in text and len(text) < 20_000
    shown = picture(t)
    assert shown.shape[:2] == (250, 75)
    assert set(colours(shown[:, 1])) == {(253, 231, 37)} and len(set(colours(shown))) == 2


def test_a_long_tensor_keeps_its_short_side():
    t = dt.arange(8000, dtype=dt.float32).reshape(1000, 8)
    assert "every 4th row and every column" in t._repr_html_()
    assert picture(t).shape[:2] == (250, 8)


def test_the_memory_that_it_takes_is_bounded():
    t = dt.zeros(1).expand(1 << 20, 1 << 20)  # a tera of elements over four bytes
    assert len(t._repr_html_()) < 20_000


@pytest.mark.parametrize(
    "tensor",
    [dt.zeros(100), dt.zeros(()), dt.zeros((2, 2)), dt.zeros((0, 9)), dt.zeros((4, 4, 3)),
     dt.zeros((3, 3), dtype="float32x4"), dt.zeros((3, 3), dtype="complex64")],
    ids=repr,
)  # fmt: skip
def test_what_makes_no_picture_is_left_to_its_text(tensor):
    assert tensor._repr_html_() is None


def test_the_text_stands_below_and_is_escaped():
    t = dt.zeros((3, 3)).requires_grad_(True)
    assert "<pre>tensor([[0., 0., 0.]," in t._repr_html_()
    assert "requires_grad=True" in t._repr_html_()
    assert "<summary>dovetail.float32 3 × 3 on cpu, 0 to 0</summary>" in t._repr_html_()
    assert 'alt="dovetail.float32 3 × 3 on cpu, 0 to 0"' in t._repr_html_()


class Printer:
    """IPython.lib.pretty.PrettyPrinter, as far as it is used, with something printed before."""

    def __init__(self, before, indentation):
        self.text_so_far, self.indentation = before, indentation
        self.output_width, self.buffer_width = len(before), 0

    def group(self, indent):
        self.indentation += indent
        return io.StringIO()  # any context

    def text(self, text):
        self.text_so_far += text

    def break_(self):
        self.text_so_far += "\n" + " " * self.indentation


def test_lines_stand_below_the_first_in_a_container():
    t = dt.tensor([[1, 2], [3, 4]])
    printer = Printer("{'weight': ", 1)
    t._repr_pretty_(printer, False)
    assert printer.text_so_far == (
        "{'weight': tensor([[1, 2],\n"
        "                   [3, 4]])"
    )  # fmt: skip
    with pytest.raises(TypeError, match="printer and cycle"):
        t._repr_pretty_(printer)
