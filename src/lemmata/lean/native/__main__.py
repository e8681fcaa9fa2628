"""``python -m lemmata.lean.native BASE``: the native kernel process (see `server`)."""

from __future__ import annotations

import sys

from lemmata.lean.native.stack import DEFAULT_STACK_BYTES, ensure_stack

if __name__ == "__main__":
    # Before anything that takes time to import, because this may start the program again.
    ensure_stack(DEFAULT_STACK_BYTES)
    from lemmata.lean.native.server import main

    sys.exit(main(sys.argv[1:]))
