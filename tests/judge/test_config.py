import json
from pathlib import Path

import pytest

from lemmata.errors import InputError
from lemmata.judge.config import load_config, parse_config

GOOD = {
    "challenge_module": "Challenge",
    "solution_module": "Solution",
    "theorem_names": ["todo1"],
    "permitted_axioms": ["propext", "Quot.sound", "Classical.choice"],
}


def parse(**changes: object):
    return parse_config(json.dumps({**GOOD, **changes}), "config.json")


def test_names_are_structural() -> None:
    config = parse(challenge_module="Challenge.«12.34».«5»", theorem_names=["A.b", "«A.b»"])
    assert config.challenge_module == ("Challenge", "12.34", "5")
    assert config.theorem_names == (("A", "b"), ("A.b",))
    assert config.permitted_axioms[1] == ("Quot", "sound")
    assert config.definition_names == ()


def test_unknown_keys_are_kept_for_the_report() -> None:
    assert parse(colour="red").unknown_keys == ("colour",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "must be a JSON object, not an array"),
        ("7", "must be a JSON object, not a number"),
        ('{"a": 1, "a": 2}', "'a' is given twice"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "too many digits"),
        ('{"a": NaN}', "NaN is no number"),
    ],
)
def test_not_a_config(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_config(text, "config.json")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"theorem_names": []}, "theorem_names is empty"),
        ({"theorem_names": "todo1"}, "theorem_names"),
        ({"theorem_names": [3]}, "theorem_names.0: must be a string"),
        ({"theorem_names": [""]}, "theorem_names.0"),
        ({"theorem_names": ["a..b"]}, "theorem_names.0"),
        ({"theorem_names": ["t", "t"]}, "lists t twice"),
        ({"definition_names": ["todo1"]}, "in theorem_names and in definition_names"),
        ({"challenge_module": None}, "challenge_module: must be a string"),
        ({"enable_nanoda": "yes"}, "enable_nanoda"),
        ({"enable_nanoda": True}, "enable_nanoda is recognised but not supported"),
        ({"external_kernels": {"k": ["k"]}}, "external_kernels is recognised"),
        ({"measurement_command": ["time"]}, "measurement_command is recognised"),
    ],
)
def test_bad_values(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        parse(**changes)
    assert str(caught.value).startswith("config.json: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", list(GOOD))
def test_missing_key(key: str) -> None:
    data = {name: value for name, value in GOOD.items() if name != key}
    with pytest.raises(InputError, match=f"the key '{key}' is missing"):
        parse_config(json.dumps(data), "config.json")


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "bom.json").write_text(json.dumps(GOOD), encoding="utf-8-sig")
    assert load_config(tmp_path / "bom.json").theorem_names == (("todo1",),)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        load_config(tmp_path / "none.json")
    with pytest.raises(InputError, match="is a folder"):
        load_config(tmp_path)
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(InputError, match="is not UTF-8"):
        load_config(tmp_path / "latin.json")
