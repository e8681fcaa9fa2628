"""Lean's kernel environment: adding declarations with full checking, and reading what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from lemmata.export import Name
from lemmata.lean.native.ffi import Library, Obj, box

_NO_CANCEL_TOKEN = box(0)
_NO_TRUST = 0
_OK = 1
MAX_MESSAGE = 4000
"""Messages of the kernel are cut to this many characters."""


class ConstantKind(IntEnum):
    """Constructors of Lean's ``ConstantInfo`` by tag."""

    AXIOM = 0
    DEFINITION = 1
    THEOREM = 2
    OPAQUE = 3
    QUOT = 4
    INDUCTIVE = 5
    CONSTRUCTOR = 6
    RECURSOR = 7


class Raised(Enum):
    """Constructors of Lean's ``Kernel.Exception`` in the order of their tags."""

    UNKNOWN_CONSTANT = "unknown_constant"
    ALREADY_DECLARED = "already_declared"
    DECLARATION_TYPE_MISMATCH = "declaration_type_mismatch"
    DECLARATION_HAS_MVARS = "declaration_has_mvars"
    DECLARATION_HAS_FVARS = "declaration_has_fvars"
    FUNCTION_EXPECTED = "function_expected"
    TYPE_EXPECTED = "type_expected"
    LET_TYPE_MISMATCH = "let_type_mismatch"
    EXPR_TYPE_MISMATCH = "expr_type_mismatch"
    APP_TYPE_MISMATCH = "app_type_mismatch"
    INVALID_PROJECTION = "invalid_projection"
    THEOREM_TYPE_IS_NOT_PROP = "theorem_type_is_not_prop"
    OTHER = "other"
    DETERMINISTIC_TIMEOUT = "deterministic_timeout"
    EXCESSIVE_MEMORY = "excessive_memory"
    DEEP_RECURSION = "deep_recursion"
    INTERRUPTED = "interrupted"


_RAISED = tuple(Raised)
_WITH_NAME = {Raised.UNKNOWN_CONSTANT, Raised.ALREADY_DECLARED}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The kernel's exception: which one, the constant it names (UNKNOWN_CONSTANT and
    ALREADY_DECLARED), and the text of OTHER. ``obj`` is the exception itself, retained."""

    raised: Raised
    name: Name | None
    text: str
    obj: Obj


class KernelEnvironment:
    """A map of constants that grows by checked declarations only.

    There is no way to add a declaration unchecked: what is not checked here enters as the saved
    map of a base (`lemmata.lean.native.base`), which was.
    """

    def __init__(self, library: Library, constants: Obj | None, quot_initialised: bool) -> None:
        """An environment over a saved map of constants, or an empty one."""
        self._library = library
        elab = library.expect_io(
            library.l_Lean_mkEmptyEnvironment(_NO_TRUST), "make an environment"
        )
        env = library.lean_elab_environment_to_kernel_env(elab)
        if constants is not None:
            library.replace_field(env, 0, constants)
        if quot_initialised:
            env = library.lean_environment_mark_quot_init(env)
        self._env = env

    @property
    def constants(self) -> Obj:
        """The map of constants, borrowed."""
        return self._library.field(self._env, 0)

    @property
    def quot_initialised(self) -> bool:
        library = self._library
        return bool(library.lean_environment_quot_init(library.retain(self._env)))

    def add(self, declaration: Obj, max_heartbeats: int, max_rec_depth: int) -> Refusal | None:
        """Check a declaration and add it; what went wrong, if anything. 0 means no limit.

        After a refusal the environment is what it was before.
        """
        library = self._library
        # Lean counts heartbeats per thread; without this the limit would be one for all adds.
        library._ZN4lean15reset_heartbeatEv()
        result = library.lean_add_decl(
            library.retain(self._env), max_heartbeats, max_rec_depth, declaration, _NO_CANCEL_TOKEN
        )
        payload = library.retain(library.field(result, 0))
        ok = library.tag(result) == _OK
        library.release(result)
        if not ok:
            return self._refusal(payload)
        library.release(self._env)
        self._env = payload
        return None

    def snapshot(self) -> Obj:
        """The environment as it is now, for `restore`; one reference."""
        return self._library.retain(self._env)

    def restore(self, snapshot: Obj) -> None:
        """Go back to a snapshot, which is used up."""
        self._library.release(self._env)
        self._env = snapshot

    def forget(self, snapshot: Obj) -> None:
        """Give a snapshot back unused."""
        self._library.release(snapshot)

    def _refusal(self, exception: Obj) -> Refusal:
        library = self._library
        raised = _RAISED[library.tag(exception)]
        name = None
        text = ""
        if raised in _WITH_NAME:
            name = library.read_name(library.field(exception, 1))
        elif raised is Raised.OTHER:
            text = library.read_string(library.field(exception, 0))[:MAX_MESSAGE]
        return Refusal(raised, name, text, exception)

    def find(self, name: Name) -> Obj | None:
        """The ``ConstantInfo`` of a constant, borrowed from the environment; None if absent."""
        library = self._library
        option = library.lean_environment_find(library.retain(self._env), library.name(name))
        if option & 1:
            return None
        info = library.field(option, 0)
        library.release(option)
        return info

    def contains(self, name: Name) -> bool:
        return self.find(name) is not None

    def message(self, refusal: Refusal) -> str:
        """Lean's own text for a refusal, cut to `MAX_MESSAGE`.

        The pretty printer is a large program run on untrusted terms: call it only where a crash
        or an endless run costs nothing.
        """
        library = self._library
        data = library.l_Lean_Kernel_Exception_toMessageData(
            library.retain(refusal.obj), library.retain(library.options_empty)
        )
        text = library.read_string(library.l_Lean_MessageData_toString(data))
        return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE] + "…"
