"""The list of rules, their quotes, and the cases."""

import os
import re

import pytest
from command import command

from dlpack_conformance.cases import DTYPES, LAYOUTS, WHOLE, product
from dlpack_conformance.checks import all_checks, rules_of
from dlpack_conformance.quotes import absent
from dlpack_conformance.rules import BY_ID, DOCUMENTS, LEVELS, ROLES, RULES

HEADER = os.environ.get("DLPACK_HEADER", "dlpack.h")


def test_each_rule_has_a_check_and_a_role():
    assert list(all_checks()) == list(BY_ID)
    assert len(BY_ID) == len(RULES)
    for rule in RULES:
        assert rule.role in ROLES
        assert rule.level in LEVELS
        assert rule.sentence.endswith(".")


def test_a_must_quotes_a_must_or_says_what_undefined_behaviour_follows():
    for rule in RULES:
        if rule.level == "must":
            assert re.search(r"\b(must|MUST|never|can not|only)\b", rule.quote) or rule.why, rule.id


def test_hardening_has_no_document_and_a_reason_and_all_else_has_a_quote():
    for rule in RULES:
        assert bool(rule.quote) == (rule.level != "hardening"), rule.id
        assert rule.quote or rule.why


def test_each_document_has_an_address():
    for document in DOCUMENTS.values():
        assert document.url.startswith("https://")


@pytest.mark.skipif(not os.path.isfile(HEADER), reason="needs dlpack.h")
def test_dlpack_h_says_what_the_rules_quote():
    assert [rule.id for rule in absent("header", HEADER)] == []
    result = command("quotes", "--dlpack-header", HEADER)
    assert result.returncode == 0
    assert "quotes, looked up\n" in result.stdout


def test_a_quote_that_a_document_does_not_have_is_an_error(tmp_path):
    file = tmp_path / "dlpack.h"
    file.write_text(
        "/* Before DLPack v1.2,\n * strides can be NULL to indicate contiguous data. */"
    )
    ids = {rule.id for rule in absent("header", file)}
    assert "consumer.null-strides" not in ids
    assert "producer.strides" in ids
    result = command("quotes", "--dlpack-header", str(file))
    assert result.returncode == 1
    assert "producer.strides: dlpack.h 1.3 does not say" in result.stdout
    assert command("quotes", "--spec", "other.txt").returncode == 2


def test_what_is_not_dlpack_is_checked_only_if_asked_for():
    assert {rule.role for rule in rules_of()} == {"producer", "consumer", "exchange"}
    assert "buffer" in {rule.role for rule in rules_of(protocol="all")}
    assert [rule.id for rule in rules_of(ids=["buffer.layout"])] == ["buffer.layout"]


@pytest.mark.parametrize("seed", range(5))
def test_a_sample_has_each_two_of_layout_type_and_way(seed):
    ways = [("versioned", "legacy"), ("", "copy=True")]
    types = ["bool", "int8", "float32", "float64"]
    sample = [case.split(", ", 2) for case in product(seed, LAYOUTS, types, *ways)]
    assert len({(layout, dtype) for layout, dtype, _ in sample}) == len(LAYOUTS) * len(types)
    assert len({(layout, way) for layout, _, way in sample}) == len(LAYOUTS) * 4
    assert len({(dtype, way) for _, dtype, way in sample}) == len(types) * 4
    assert len([*product(WHOLE, LAYOUTS, types, *ways)]) == len(sample) * 4


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=lambda dtype: dtype.name)
def test_the_elements_of_a_type_are_twelve_in_its_bytes(dtype):
    encoded = dtype.encoded()
    assert len(encoded) == 12 * dtype.size
    assert dtype.encoded([5]) == encoded[5 * dtype.size : 6 * dtype.size]
    assert len(set(dtype.numbers())) == (2 if dtype.name == "bool" else 12)


def test_the_elements_of_small_types_are_those_of_ml_dtypes():
    np, ml_dtypes = pytest.importorskip("numpy"), pytest.importorskip("ml_dtypes")
    for dtype in DTYPES.values():
        if dtype.one is not None:
            elements = np.frombuffer(dtype.encoded(), getattr(ml_dtypes, dtype.name))
            assert elements.astype(float).tolist() == dtype.numbers(), dtype.name
