"""Entry point of the helper: ``python -I -S _exec.py SPEC -- ARGV...``.

Kept to a few lines because a script is compiled anew at each start; the modules it imports are
cached. The folder is put on the path by hand, as ``-I`` leaves it out and importing them through
the package would import all of it.
"""

import importlib
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    importlib.import_module("_helper.supervisor").main(sys.argv[1:])
