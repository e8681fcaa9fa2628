"""The trusted core stays small: it imports the standard library and itself, and nothing else."""

import ast
import sys
from pathlib import Path

import lemmata

ROOT = Path(lemmata.__file__).parent
CORE = (
    "errors.py",
    *(f"export/{path.name}" for path in sorted((ROOT / "export").glob("*.py"))),
    *(
        f"judge/{name}.py"
        for name in ("verdict", "finding", "compare", "axioms", "replay", "faults", "decide")
    ),
)


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names.add(node.module or "")
    return names


def core_modules() -> set[str]:
    modules = set()
    for name in CORE:
        parts = ["lemmata", *Path(name).with_suffix("").parts]
        modules.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return modules


def test_imports() -> None:
    allowed = core_modules()
    for name in CORE:
        for module in imported(ROOT / name):
            assert module in allowed or module.split(".")[0] in sys.stdlib_module_names, (
                f"{name} imports {module}, which is not part of the trusted core"
            )


def test_the_guarantee_lists_the_core() -> None:
    page = (ROOT.parents[1] / "docs" / "guarantee.md").read_text(encoding="utf-8")
    for name in CORE:
        assert name.split("/")[-1] == "__init__.py" or f"`{name}`" in page, f"{name} is not listed"
