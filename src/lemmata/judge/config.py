"""The judge's configuration file: the Comparator's JSON object, read strictly.

Keys and defaults follow the Comparator (`challenge_module`, `solution_module`, `theorem_names`,
`permitted_axioms`, `definition_names`, `external_kernels`, `enable_nanoda`,
`measurement_command`). Unknown keys are kept and reported, not refused, as the Comparator does.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from lemmata.errors import InputError
from lemmata.export import Name, format_name, parse_name


def _name(value: object) -> Name:
    if not isinstance(value, str):
        raise ValueError("must be a string that is a Lean name")
    try:
        name = parse_name(value)
    except Exception as error:
        raise ValueError(f"{value!r} is not a Lean name ({error})") from None
    if not name:
        raise ValueError("must not be empty")
    return name


LeanName = Annotated[Name, BeforeValidator(_name)]


class JudgeConfig(BaseModel):
    """What to judge. Names are structural (tuples of components)."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", arbitrary_types_allowed=True)

    challenge_module: LeanName
    solution_module: LeanName
    theorem_names: tuple[LeanName, ...] = Field(strict=False)
    permitted_axioms: tuple[LeanName, ...] = Field(strict=False)
    definition_names: tuple[LeanName, ...] = Field(default=(), strict=False)
    external_kernels: dict[str, list[str]] = {}
    enable_nanoda: bool = False
    measurement_command: list[str] | None = None

    @property
    def unknown_keys(self) -> tuple[str, ...]:
        return tuple(self.model_extra or ())


def load_config(path: Path) -> JudgeConfig:
    """Read and check a configuration file; :class:`InputError` says what is wrong and where."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such file; give the path of a judge config"
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; give the config file in it") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    return parse_config(text, str(path))


def parse_config(text: str, where: str) -> JudgeConfig:
    """Like :func:`load_config` for text already read; ``where`` names it in errors."""
    try:
        data = json.loads(
            text,
            object_pairs_hook=lambda pairs: _unique(pairs, where),
            parse_constant=partial(_no_number, where),
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where}: is not JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        ) from None
    except ValueError:  # Python's limit on the digits of a number
        raise InputError(f"{where}: has a number of too many digits") from None
    except RecursionError:
        raise InputError(f"{where}: is nested too deeply to be a judge config") from None
    if not isinstance(data, dict):
        raise InputError(f"{where}: must be a JSON object, not {_kind(data)}")
    try:
        config = JudgeConfig.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{where}: {_first_problem(error)}") from None
    _check(config, where)
    return config


def _no_number(where: str, text: str) -> NoReturn:
    raise InputError(f"{where}: is not JSON ({text} is no number there)")


def _unique(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise InputError(f"{where}: the key {key!r} is given twice; keep one")
        result[key] = value
    return result


def _kind(value: object) -> str:
    kinds = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "missing":
        return f"the key {where!r} is missing"
    text = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {text[:1].lower()}{text[1:]}"


def _check(config: JudgeConfig, where: str) -> None:
    if not config.theorem_names and not config.definition_names:
        raise InputError(f"{where}: theorem_names is empty; name at least one theorem to judge")
    for key in ("theorem_names", "definition_names", "permitted_axioms"):
        names: tuple[Name, ...] = getattr(config, key)
        for index, name in enumerate(names):
            if name in names[:index]:
                raise InputError(f"{where}: {key} lists {format_name(name)} twice; keep one")
    both = set(config.theorem_names) & set(config.definition_names)
    if both:
        raise InputError(
            f"{where}: {format_name(min(both, key=str))} is in theorem_names and in "
            "definition_names; keep one"
        )
    # Leaving these out silently would make the verdict weaker than the config asks for.
    unsupported = {
        "external_kernels": bool(config.external_kernels),
        "enable_nanoda": config.enable_nanoda,
        "measurement_command": config.measurement_command is not None,
    }
    for key, used in unsupported.items():
        if used:
            raise InputError(
                f"{where}: {key} is recognised but not supported in this version; remove it"
            )
