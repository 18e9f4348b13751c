#!/usr/bin/env python3
"""The pages in a browser: what their script draws, that it runs without an error, and light and dark.

usage: browser.py PTXASW SOURCE        77: there is no chromium
"""

import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr"]
DARK, LIGHT = 0, 1  # as Chromium's setting counts them
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


class Browser:
    def __init__(self, program, work):
        self.program, self.work = program, work

    def run(self, page, *flags):
        profile = tempfile.mkdtemp(dir=self.work)
        done = subprocess.run([self.program, *FLAGS, f"--user-data-dir={profile}", "--window-size=1280,900", *flags,
                               page.as_uri()], capture_output=True, text=True, timeout=400)
        errors = [line for line in done.stderr.splitlines() if "CONSOLE" in line or "Uncaught" in line]
        expect(not errors, f"{page.name}: {errors[:3]}")
        return done.stdout

    def drawn(self, page):
        return self.run(page, "--dump-dom")

    def corner(self, page, scheme):
        """The colour of the upper left pixel."""
        picture = self.work / "picture.png"
        self.run(page, f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={picture}")
        data, at, pixels = picture.read_bytes(), 8, b""
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            pixels += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
            at += size + 12
        return tuple(zlib.decompress(pixels)[1:4])  # behind the filter of the first line, which cannot matter


def shuffled_page(browser, ptxasw, source, work):
    page = work / "jacobi.html"
    subprocess.run([ptxasw, "report", "--shuffle=all", "--format=html",
                    source / "tests/golden/ptx/jacobi.lineinfo.ptx", "-o", page], check=True)
    dom = browser.drawn(page)
    body = dom[dom.index("<header"):]  # behind it are the data and the script
    expect("<title>jacobi.lineinfo.ptx - ptxasw</title>" in dom, "the title")
    expect(body.count('<rect class="covered"') == 6 * 31, "31 lanes of six loads take a value")
    expect(body.count('<rect class="corner"') == 6, "one lane of each loads")
    expect("shfl.sync" in body and 'class="code ins"' in body, "the new text beside the old one")
    links, targets = set(re.findall(r'href="#(L\d+)"', body)), set(re.findall(r'id="(L\d+)"', body))
    expect(links and links <= targets, f"links without a target: {sorted(links - targets)[:5]}")
    expect(browser.corner(page, LIGHT) == (0xf6, 0xf7, 0xf9), "light")
    expect(browser.corner(page, DARK) == (0x0e, 0x11, 0x16), "dark")


def sorted_page(browser, ptxasw, source, work):
    page = work / "boxes.html"
    subprocess.run([ptxasw, "report", "--coarsen=none", "--format=html", source / "tests/golden/ptx/boxes.ptx", "-o", page],
                   check=True)
    text = page.read_text()
    begin = text.index('id="data">') + len('id="data">')
    data = json.loads(text[begin:text.index("</script>", begin)])
    for kernel in data["report"]["kernels"]:  # as if the last had been rewritten
        if kernel["name"] == "box9x9":
            kernel.update(changed=True, predicted_gain=1.8, verdict="rewritten by coarsening")
        else:
            kernel["hints"] = [{"what": "--coarsen=large", "text": "", "predicted_gain": 2.0 if kernel["name"] == "box5x5" else 1.5}]
    page.write_text(text[:begin] + json.dumps(data).replace("<", "\\u003c") + text[text.index("</script>", begin):])
    dom = browser.drawn(page)
    expect("2.00× with --coarsen=large" in dom, "what would gain is in the table")
    names = re.findall(r"<h2>(\w+)</h2>", dom)
    expect(names[:2] == ["box9x9", "box5x5"] and len(names) == 3, f"what gains most, and what would, comes first: {names}")


def launches_page(browser, ptxasw, work):
    run, page = work / "run.json", work / "run.html"
    rows = [{"kernel": "_Z3boxIfEvPT_", "grid": "8x8x1", "block": "32x8x1", "variant": "y:4", "note": "", "launches": 1000,
             "microseconds": 20.0, "gain": 1.5, "predicted": 1.4, "checked": 3, "unchecked": 0},
            {"kernel": "big", "grid": "99x1x1", "block": "256x1x1", "variant": "<x:8>", "note": "", "launches": 10,
             "microseconds": 9000.0, "gain": 0, "predicted": 2.26, "checked": 0, "unchecked": 0}]
    images = [{"file": "libmine.so", "state": "replaced", "words": "", "images": 2, "ptx": True, "kernels": 7, "versions": 12}]
    run.write_text(json.dumps({"version": 1, "launches": rows, "images": images,
                              "hints": [{"what": "--steps", "text": "arrays are exchanged"}]}))
    subprocess.run([ptxasw, "report", "--format=html", run, "-o", page], check=True)
    dom = browser.drawn(page)
    body = dom[dom.index("<header"):]
    expect(0 < body.find(">big<") < body.find(">box&lt;float&gt;<"), "launches by their time, with names for people")
    expect(">libmine.so<" in body and ">12<" in body, "the images")
    expect("<code>ptxasw launch --steps</code>" in body and "arrays are exchanged" in body, "what would help")
    expect("1.50×" in body and "~2.26×" in body and "&lt;x:8&gt;" in body, "gains measured and predicted")


def main(ptxasw, source):
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        print("SKIP: no chromium")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        browser = Browser(program, work)
        shuffled_page(browser, ptxasw, pathlib.Path(source), work)
        sorted_page(browser, ptxasw, pathlib.Path(source), work)
        launches_page(browser, ptxasw, work)
    for failure in failures:
        print("FAIL:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
