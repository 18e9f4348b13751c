"""Rewrites modules of kernels.py in several ways and compares them on a GPU, for some seconds.

    campaign.py PTXASW SECONDS FIRST[,FIRST...] [JOBS]      one line of JSON for each module; then a summary

Modules of 100 kernels: those that begin with the given seeds, and from the last one on as far as time goes.
The way `any`, of one module in four, lifts the promise (--fp-contract=any): what differs there is
what the others keep from differing.
"""
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import kernels

HERE = pathlib.Path(__file__).resolve().parent
CUTS = ["y:4", "x:2", "y:2", "y:8", "x:4"]
EACH = 100  # kernels of a module


def ways(first):
    """What is done to the module that begins with this kernel: the next one is cut otherwise."""
    number = first // EACH
    cut = f"--coarsen={CUTS[number % len(CUTS)]}"
    control = {"any": [cut, "--fp-contract=any"]} if number % 4 == 0 else {}
    return {"coarsened": [cut], "shuffled": ["--shuffle=all"], **control}


def kind_of(reason):
    """Without what names a place or counts something."""
    reason = re.sub(r"line \d+: ", "", reason.split("(")[-1])
    return re.split(r": |; |\d", reason)[0].strip()


def one(ptxasw, first):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "in.ptx").write_text(kernels.module(first, EACH))
        reasons = collections.Counter()
        for way, options in ways(first).items():
            subprocess.run([ptxasw, "opt", folder / "in.ptx", "-o", folder / f"{way}.ptx", "--arch=sm_90", "-q",
                            f"--report={folder}/{way}.json", "--kernel-budget=5000", "--fewer-blocks", *options], check=True)
            if way == "coarsened":
                for kernel in json.loads((folder / f"{way}.json").read_text())["kernels"]:
                    reasons[("pinned to the byte" if kernel["pinned_bytes"] else "pinned to the operation")
                            if kernel["pinned"] else "nothing to pin" if kernel["changed"]
                            else kind_of(kernel["reason"])] += 1
        done = subprocess.run([sys.executable, "-B", HERE / "compare.py", str(first), str(EACH),
                               *(f"{way}={folder}/{way}.ptx" for way in ways(first))], capture_output=True, text=True)
        if done.returncode != 0:
            return {"from": first, "error": done.stderr[-500:]}
        return dict(json.loads(done.stdout), reasons=dict(reasons))


def main():
    ptxasw, seconds, firsts = sys.argv[1], float(sys.argv[2]), [int(n) for n in sys.argv[3].split(",")]
    jobs, end = int(sys.argv[4]) if len(sys.argv) > 4 else 8, time.monotonic() + seconds
    total, modules = collections.defaultdict(collections.Counter), 0
    reasons = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = set()
        while waiting or time.monotonic() < end:
            while len(waiting) < jobs and time.monotonic() < end:
                waiting.add(pool.submit(one, ptxasw, firsts[0]))
                firsts = firsts[1:] or [firsts[0] + EACH]
            done, waiting = concurrent.futures.wait(waiting, return_when="FIRST_COMPLETED")
            for future in done:
                try:
                    result = future.result()
                except Exception as error:  # of one module; the others go on
                    result = {"error": str(error)}
                print(json.dumps(result), flush=True)
                if "error" in result:
                    total["errors"]["modules"] += 1
                    continue
                modules += 1
                reasons.update(result["reasons"])
                for way, of in result["ways"].items():
                    total[way].update(changed=of["changed"], different=len(of["different"]), only_nans=len(of["only_nans"]),
                                      only_nans_but_f64=sum(" " in name for name in of["only_nans"]))
    print(json.dumps({"kernels": EACH * modules, "total": total, "coarsened": reasons}))


main()
