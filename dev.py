#!/usr/bin/env python3
"""Sets Parley up, runs it and tests it. Standard library only (`devtools/`); needs Python 3.11 or newer.

    python3 dev.py run        sets up what is missing, then serves everything on http://127.0.0.1:8000
    python3 dev.py test       sets up what is missing, then runs the checks and the tests

Other sub-commands: setup, check, fix, lint, doctor, translations, reset, sdk, screenshots, release. Nothing needs to be activated.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  (run by whatever Python the machine has)
    sys.exit("Parley needs Python 3.11 or newer; this is %s." % sys.version.split()[0])  # noqa: UP031

from devtools.command_line import main
from devtools.environment import Problem, report

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        report(str(problem))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
