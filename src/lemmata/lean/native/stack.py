"""A large stack for Lean's recursive kernel.

With the usual 8 MB, terms nested 100,000 deep end as "deep recursion" although they are fine. The
limit of a process's first thread is fixed when the program starts, so the process starts itself
again under a raised limit.
"""

from __future__ import annotations

import os
import resource
import sys

DEFAULT_STACK_BYTES = 1 << 29


def ensure_stack(wanted: int) -> None:
    """Return when the stack limit is at least ``wanted`` bytes; else restart this program under it.

    Where the hard limit is lower, the most it allows is used.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
