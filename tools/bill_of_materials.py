"""Writes the bill of materials: every locked package with its version, hashes and licence, in CycloneDX's JSON.

    python tools/bill_of_materials.py build/bill-of-materials.json

Versions and hashes come from ``requirements.lock``, licences from the installed packages. A package without a hash is
an error. A package without a stated licence is named.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)((?:.|\n(?=\s))*)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_LICENCE = re.compile(r"^License :: (?:OSI Approved :: )?(.+)$")


def components(lock: str) -> list[dict[str, Any]]:
    """Returns the packages of a lock file as CycloneDX's components, in their order."""
    found = []
    for name, version, rest in _PACKAGE.findall(lock):
        hashes = [{"alg": "SHA-256", "content": one} for one in _HASH.findall(rest)]
        component = {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
            "hashes": hashes,
        }
        licence = licence_of(name)
        if licence is not None:
            component["licenses"] = [{"license": {"name": licence}}]
        found.append(component)
    return found


def licence_of(name: str) -> str | None:
    """Returns the licence that an installed package states; ``None`` for one that is not installed."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    classified = [match[1] for one in about.get_all("Classifier") or [] if (match := _LICENCE.match(one))]
    stated = str(about.get("License-Expression") or "") or "; ".join(classified) or str(about.get("License") or "")
    return stated.strip().partition("\n")[0][:120] or "not stated"


def main(target: Path) -> None:
    """Writes the bill and reports its size."""
    found = components((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    without_hash = [one["name"] for one in found if not one["hashes"]]
    unstated = [
        one["name"] for one in found if one.get("licenses", [{}])[0].get("license", {}).get("name") == "not stated"
    ]
    if not found or without_hash:
        raise SystemExit(f"requirements.lock has packages without a hash: {', '.join(without_hash) or 'none at all'}")
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": found}
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{target}: {len(found)} packages; without a stated licence: {', '.join(unstated) or 'none'}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
