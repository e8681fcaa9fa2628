from pathlib import Path

import pytest

from lemmata.errors import InputError
from lemmata.judge.sources import Header, Import, SourceProblem, load_tree, module_path

LIBRARY = {("Init",), ("Std",), ("Lean",)}


async def parse_header(text: str) -> Header:
    """Headers of one word per import, enough to test what is made of them."""
    words = text.split()
    prelude = "prelude" in words
    names = [
        tuple(word.split(".")) if "/" not in word else (word,)
        for word in words
        if word not in ("prelude", "import")
    ]
    return Header(
        tuple(Import(name, name in LIBRARY) for name in names),
        prelude,
        "1:0: broken" if "broken" in words else None,
    )


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / (name.replace("__", "/") + ".lean")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def test_local_imports_come_first_and_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        Top="import A.B import C import Std",
        A__B="import C",
        C="",
    )
    tree = await load_tree(tmp_path, ("Top",), parse_header)
    assert [source.name for source in tree.modules] == [("C",), ("A", "B"), ("Top",)]
    assert tree.imports == (("Init",), ("Std",))


async def test_a_prelude_imports_nothing(tmp_path: Path) -> None:
    write(tmp_path, Top="prelude")
    tree = await load_tree(tmp_path, ("Top",), parse_header)
    assert tree.imports == ()


async def test_a_local_file_hides_a_library_module(tmp_path: Path) -> None:
    write(tmp_path, Top="import Std", Std="")
    tree = await load_tree(tmp_path, ("Top",), parse_header)
    assert [source.name for source in tree.modules] == [("Std",), ("Top",)]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"Top": "import A", "A": "import Top"}, "circle: Top → A → Top"),
        ({"Top": "import Nowhere"}, "Nowhere, which is neither"),
        ({"Top": "broken"}, "header does not parse: 1:0"),
        ({"Top": f"import {'a' * 300}"}, "which is neither a file"),
        ({"Top": "import ../Up"}, "Top.lean: .*Up» cannot be the name of a module"),
        ({"Top": "import A", "A": "import Nowhere"}, "A.lean: imports Nowhere"),
    ],
)
async def test_problems_inside_the_texts(tmp_path: Path, texts: dict[str, str], words: str) -> None:
    write(tmp_path, **texts)
    with pytest.raises(SourceProblem, match=words):
        await load_tree(tmp_path, ("Top",), parse_header)


async def test_long_chains_of_imports(tmp_path: Path) -> None:
    count = 1500
    write(tmp_path, **{f"M{number}": f"import M{number + 1}" for number in range(count)})
    write(tmp_path, **{f"M{count}": ""})
    tree = await load_tree(tmp_path, ("M0",), parse_header)
    assert tree.modules[0].name == (f"M{count}",)
    assert len(tree.modules) == count + 1


async def test_an_import_that_cannot_be_read_is_the_solutions_fault(tmp_path: Path) -> None:
    write(tmp_path, Top="import Dir")
    (tmp_path / "Dir.lean").mkdir()
    with pytest.raises(SourceProblem, match="Dir, which is neither"):
        await load_tree(tmp_path, ("Top",), parse_header)


async def test_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "Top.lean").write_bytes(b"\xff")
    with pytest.raises(SourceProblem, match="not UTF-8"):
        await load_tree(tmp_path, ("Top",), parse_header)


async def test_line_ends_are_read_as_lean_reads_them(tmp_path: Path) -> None:
    (tmp_path / "Top.lean").write_bytes(b"prelude\r\nprelude\rx")
    tree = await load_tree(tmp_path, ("Top",), parse_prelude)
    assert tree.modules[0].text == "prelude\nprelude\rx"


async def parse_prelude(text: str) -> Header:
    return Header((), True, None)


async def test_missing_module_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        await load_tree(tmp_path, ("Top",), parse_header)


@pytest.mark.parametrize("name", [("..", "x"), ("a/b",), ("",), ("a\0",), (".",)])
def test_names_that_are_no_paths(tmp_path: Path, name: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="cannot be the name of a module file"):
        module_path(tmp_path, name)


def test_numbers_and_dots_in_module_names(tmp_path: Path) -> None:
    assert module_path(tmp_path, ("Challenge", "12.34", 5)) == (
        tmp_path / "Challenge" / "12.34" / "5.lean"
    )
