"""A system call filter: classic BPF over ``struct seccomp_data`` (seccomp(2)).

A deny list of what a prover never needs and what has carried most kernel escapes. The namespace
layers are the border; this takes doors out of it.
"""

from __future__ import annotations

import ctypes

from . import linux

_ALLOW = 0x7FFF_0000
_KILL_PROCESS = 0x8000_0000
_ERRNO = 0x0005_0000
_EPERM = 1
_ENOSYS = 38

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_GREATER_EQUAL = 0x35
_JUMP_BITS = 0x45  # BPF_JSET
_RETURN = 0x06

_NR, _ARCH, _ARG0, _ARG1 = 0, 4, 16, 24  # offsets; the low word comes first on these machines
_X32_BIT = 0x4000_0000

_NAMESPACE_FLAGS = 0x7E02_0000  # every CLONE_NEW* that clone takes
_TIOCSTI = 0x5412
_TIOCLINUX = 0x541C

# name -> (x86_64, aarch64); 0 where the architecture has no such call.
_DENIED: dict[str, tuple[int, int]] = {
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "setns": (308, 268),
    "unshare": (272, 97),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "lookup_dcookie": (212, 18),
    "iopl": (172, 0),
    "ioperm": (173, 0),
    "modify_ldt": (154, 0),
}
# Answered as if the kernel had no such call, so that libraries take their older path.
_ABSENT: dict[str, tuple[int, int]] = {
    "clone3": (435, 435),  # its flags lie in memory, where a filter cannot see them
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
_CLONE = (56, 220)
_IOCTL = (16, 29)
_AUDIT_ARCH = (0xC000_003E, 0xC000_00B7)
_MACHINES = ("x86_64", "aarch64")

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def supported(machine: str) -> bool:
    """Whether the filter knows the system call numbers of ``machine``."""
    return machine in _MACHINES


def program(machine: str) -> list[Instruction]:
    """The filter for ``machine`` as (code, jt, jf, k) instructions."""
    which = _MACHINES.index(machine)

    def answer(value: int) -> Instruction:
        return (_RETURN, 0, 0, value)

    instructions: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_JUMP_EQUAL, 1, 0, _AUDIT_ARCH[which]),
        answer(_KILL_PROCESS),
        (_LOAD, 0, 0, _NR),
    ]
    if machine == "x86_64":
        instructions += [(_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT), answer(_ERRNO | _ENOSYS)]
    for table, code in ((_DENIED, _EPERM), (_ABSENT, _ENOSYS)):
        for numbers in table.values():
            if numbers[which]:
                instructions += [(_JUMP_EQUAL, 0, 1, numbers[which]), answer(_ERRNO | code)]
    instructions += [
        (_JUMP_EQUAL, 0, 4, _CLONE[which]),
        (_LOAD, 0, 0, _ARG0),
        (_JUMP_BITS, 0, 1, _NAMESPACE_FLAGS),
        answer(_ERRNO | _EPERM),
        answer(_ALLOW),
        (_JUMP_EQUAL, 0, 4, _IOCTL[which]),
        (_LOAD, 0, 0, _ARG1),
        (_JUMP_EQUAL, 1, 0, _TIOCSTI),
        (_JUMP_EQUAL, 0, 1, _TIOCLINUX),
        answer(_ERRNO | _EPERM),
        answer(_ALLOW),
    ]
    return instructions


def install(instructions: list[Instruction]) -> None:
    """Put a filter on this process and its descendants; needs ``no_new_privs``."""

    class Filter(ctypes.Structure):
        _fields_ = (
            ("code", ctypes.c_uint16),
            ("jt", ctypes.c_uint8),
            ("jf", ctypes.c_uint8),
            ("k", ctypes.c_uint32),
        )

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(Filter)))

    array = (Filter * len(instructions))(*(Filter(*i) for i in instructions))
    mode_filter = 2
    whole = Program(len(instructions), array)
    linux.prctl("PR_SET_SECCOMP", linux.PR_SET_SECCOMP, mode_filter, ctypes.byref(whole))
