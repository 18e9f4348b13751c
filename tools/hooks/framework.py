"""What tools/hooks/try_{triton,inductor,jax}.py share: settings that must stand before a framework
is imported, a log that shows whether it called ptxasw, and the words for what is missing."""

import atexit
import importlib
import json
import os
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="ptxasw-hook-"))
LOG = FOLDER / "log.jsonl"
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def program():
    """The ptxasw to try: the argument, or the one that was built here."""
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/ptxasw").resolve()
    return str(path) if os.access(path, os.X_OK) else skip(f"{path} not built")


def skip(why):
    """Status 77 is what CTest takes for a skipped test."""
    print(f"skipped: {why}")
    sys.exit(77)


def load(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return skip(f"{name} not installed")


def use(**settings):
    flags = os.environ.get("PTXASW_TRY_FLAGS", "--shuffle=all")
    os.environ.update(PTXASW_LOG=str(LOG), PTXASW_FLAGS=flags, **settings)


def calls():
    return [json.loads(line) for line in LOG.read_text().splitlines()] if LOG.exists() else []


def finish(who, wanted):
    """Ends the script: the results were right; were there as many calls as wanted?"""
    made = calls()
    for call in made:
        kernels = [k for i in call.get("inputs", []) for k in i.get("kernels", [])]
        print(f"{who}: {call['action']} {call.get('reason', '')}",
              *(f"{k['name']}: {k['covered']} of {k['loads']} loads" for k in kernels))
    if len(made) < wanted:
        sys.exit(f"{who}: results equal, but only {len(made)} calls of ptxasw")
    print(f"{who}: results equal, {len(made)} calls went through ptxasw")
