"""What a team installs from this instance: the JavaScript SDK as an npm package, and packages made by `manage.py sdk`."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from core.version import VERSION
from portal.packages import npm

# `manage.py sdk` puts finished packages here. Those of earlier versions stay.
FOLDER = Path(settings.VAR_DIR) / "packages"
NAME = re.compile(
    r"(?P<package>[a-z][a-z_]*)-(?P<version>\d+\.\d+\.\d+[a-z0-9.]*)(?:-[a-z0-9-]+)?\.(?:tgz|tar\.gz|whl)"
)


class Package(NamedTuple):
    name: str
    version: str
    content: bytes

    @property
    def integrity(self) -> str:
        """As npm writes it into a lock file."""
        return "sha512-" + base64.b64encode(hashlib.sha512(self.content).digest()).decode()


def packages() -> dict[str, Package]:
    """All packages by file name, the newest version of each first."""
    found = [Package(npm.file_name(), VERSION, npm.archive())]
    if FOLDER.is_dir():
        for path in FOLDER.iterdir():
            match = NAME.fullmatch(path.name)
            # The package of this version is made of the files that are served.
            if match and path.name != npm.file_name():
                found.append(Package(path.name, match["version"], path.read_bytes()))
    found.sort(key=lambda package: [int(number) for number in re.findall(r"\d+", package.version)], reverse=True)
    return {package.name: package for package in found}
