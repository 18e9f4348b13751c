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


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for n in range(at, end + 1):
            result[order[n]] = (at + end) / 2
        at = end + 1
    return result


def rank_correlation(x, y):
    """Spearman's."""
    if len(x) < 3:
        return float("nan")
    a, b = ranks(x), ranks(y)
    mean = (len(x) - 1) / 2
    covariance = sum((u - mean) * (v - mean) for u, v in zip(a, b))
    return covariance / math.sqrt(sum((u - mean) ** 2 for u in a) * sum((v - mean) ** 2 for v in b))


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
