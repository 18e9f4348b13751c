"""What the scripts of bench/ share: markdown tables, means, finding tools, the machine in words."""

import datetime
import math
import os
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[1]


def geometric_mean(values):
    values = [v for v in values if v and v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def table(header, rows):
    lines = ["| " + " | ".join(map(str, header)) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def find_tool(name):
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def circumstances():
    """When and on what something was measured."""
    try:
        model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        model = "unknown processor"
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": f"{model}, {os.cpu_count()} cores", "load": os.getloadavg()[0]}
