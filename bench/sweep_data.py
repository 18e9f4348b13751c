"""Results of bench/gpu/run, plain or compressed by gzip."""

import gzip
import json
import pathlib


def load(path):
    data = pathlib.Path(path).read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
