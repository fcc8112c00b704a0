"""Includes go down."""

from floors import check_floors


def test_an_include_of_a_higher_floor_is_named():
    (problem,) = check_floors(
        "python/exchange/base/owner.h",
        ["", '#include "dovetail/python/exchange/routes/import_object.h"'],
    )
    assert problem.startswith(
        "python/exchange/base/owner.h:2: python/exchange/base must not include "
        "python/exchange/routes,"
    )


def test_includes_of_lower_floors_the_same_floor_and_other_folders_are_allowed():
    lines = [
        '#include "dovetail/python/exchange/base/owner.h"',
        '#include "dovetail/python/exchange/peers/torch/torch_in.h"',
        '#include "dovetail/python/exchange/peers/numpy.h"',
        '#include "dovetail/core/tensor.h"',
    ]
    assert not list(check_floors("python/exchange/peers/jax.cc", lines))


def test_a_file_belongs_to_its_longest_folder():
    lines = ['#include "dovetail/python/exchange/exchange.h"']
    assert len(list(check_floors("python/exchange/peers/torch/torch_in.cc", lines))) == 1
    assert not list(check_floors("python/exchange/linked_capi.cc", lines))
