"""Tables and plots of one run of bench/gpu/run, and of the counters that ncu read."""

import math

from tables import geometric_mean, number, table

COLOURS = ["#9aa5b1", "#0072b2", "#009e73", "#e69f00", "#cc79a7", "#d55e00", "#56b4e9", "#6b4c9a"]



class Results:
    """The timed lines of one run, by case and variant, and its counters."""

    def __init__(self, data):
        self.data, self.manifest = data, data["manifest"]
        self.plain = self.manifest["variants"][0]["name"]
        self.lines = {}
        for line in data["modes"].get("time", []):
            if line.get("median_us"):
                self.lines.setdefault(line["case"], {})[line["variant"]] = line
        self.lines = {c: v for c, v in self.lines.items() if self.plain in v}
        order = [v["name"] for v in self.manifest["variants"]] + [self.plain + "-again"]
        seen = {v for lines in self.lines.values() for v in lines}
        self.variants = [v for v in order if v in seen and v != self.plain]
        self.counters = [l for l in data["modes"].get("count", []) if "counted" in l]

    def case(self, name):
        return self.manifest["cases"][name]

    def label(self, name):
        same = [c for c in self.lines if self.case(c)["kernel"] == self.case(name)["kernel"]]
        return self.case(name)["kernel"] + (f" {self.case(name)['size']}" if len(same) > 1 else "")

    def speedup(self, case, variant):
        """Against the untouched kernel; 1 where the tool left the PTX as it was."""
        lines = self.lines[case]
        if variant in lines:
            return lines[self.plain]["median_us"] / lines[variant]["median_us"]
        kernel = self.manifest["kernels"][self.case(case)["kernel"]]
        built = self.manifest["built"][kernel["file"]].get(variant, {})
        return 1.0 if built.get("unchanged") else None

    def floor_us(self, case):
        """The least time that bytes over copy bandwidth, or operations over peak rate, allow."""
        device, info = self.data["device"], self.case(case)
        if not device.get("copy_gb_per_s"):
            return None
        peak = device.get("sms", 0) * 128 * 2 * device.get("clock_khz", 0) * 1e-3  # FLOP per us
        flops = info["flops"] / peak if peak else 0
        return max(info["least_bytes"] / (1e3 * device["copy_gb_per_s"]), flops)


def headline(results):
    data, device, gpu = results.data, results.data["device"], results.data.get("gpu", {})
    facts = [
        ("date", data["date"]), ("chip", device.get("device")),
        ("driver", gpu.get("driver_version")),
        ("clocks", f"SM {gpu.get('clocks.sm')} idle, at most {gpu.get('clocks.max.sm')}; "
                   f"memory {gpu.get('clocks.mem')}"),
        ("copy bandwidth", f"{device.get('copy_gb_per_s', 0):.0f} GB/s read plus written"),
        ("nvcc, ptxas", f"{results.manifest['nvcc']}, {results.manifest['ptxas']}"),
        ("commit", (results.manifest["commit"] or "")[:12]),
        ("seed", device.get("seed")),
    ]
    return table(["what", "value"], facts)


def correctness(results):
    rows = []
    for mode, lines in results.data["modes"].items():
        rows.append([mode, sum(l.get("equal") is True for l in lines),
                     sum(l.get("equal") is False for l in lines),
                     sum("error" in l for l in lines)])
    return table(["mode", "equal bit for bit", "different", "errors"], rows)


def summary(results):
    rows = []
    suites = sorted({results.case(c)["suite"] for c in results.lines})
    for variant in results.variants:
        for suite in suites:
            values = [results.speedup(c, variant) for c in results.lines
                      if results.case(c)["suite"] == suite]
            values = [v for v in values if v]
            if values:
                changed = sum(variant in results.lines[c] for c in results.lines
                              if results.case(c)["suite"] == suite)
                rows.append([variant, suite, len(values), changed, number(geometric_mean(values), 3),
                             number(min(values), 3), number(max(values), 3)])
    return table(["variant", "suite", "cases", "changed", "geomean", "worst", "best"], rows)


def details(results):
    header = ["case", "launch", "plain us", "spread", "of floor", *results.variants]
    rows = []
    for case, lines in results.lines.items():
        plain = lines[results.plain]
        floor = results.floor_us(case)
        spread = (plain["p75_us"] - plain["p25_us"]) / plain["median_us"]
        rows.append([results.label(case), plain["launch"], number(plain["median_us"], 1),
                     f"{100 * spread:.1f} %",
                     f"{100 * floor / plain['median_us']:.0f} %" if floor else "-",
                     *(number(results.speedup(case, v)) for v in results.variants)])
    return table(header, rows)


def resources(results):
    header = ["case", "variant", "shuffles", "registers", "spill bytes", "occupancy"]
    rows, seen = [], set()
    for case, lines in results.lines.items():
        kernel = results.manifest["kernels"][results.case(case)["kernel"]]
        if kernel["name"] in seen:
            continue
        seen.add(kernel["name"])
        for variant, line in lines.items():
            built = results.manifest["built"][kernel["file"]].get(variant)
            if not built:
                continue
            entry = built.get("entries", {}).get(kernel["entry"], {})
            rows.append([results.label(case), variant, entry.get("shuffles", "-"), line["registers"],
                         entry.get("spill_stores", 0) + entry.get("spill_loads", 0),
                         f"{100 * line['occupancy']:.0f} %"])
    return table(header, rows)


def counters(results):
    """Counters of one launch, each beside its part of the untouched kernel's."""
    plain = {l["case"]: l for l in results.counters if l["variant"] == results.plain}
    traffic = lambda line: line["dram_read"] + line["dram_written"]
    part = lambda value, whole: f"{value:.4g} ({value / whole:.2f})" if whole else f"{value:.4g}"
    rows = []
    for line in results.counters:
        base = plain.get(line["case"], line)
        rows.append([results.case(line["case"])["kernel"], line["variant"],
                     *(part(line[n] / 1e6, base[n] / 1e6) for n in
                       ("load_requests", "load_sectors", "l1_wavefronts", "instructions")),
                     part(traffic(line) / 1e6, traffic(base) / 1e6)])
    return table(["kernel", "variant", "load requests, millions", "load sectors, millions",
                  "L1 wavefronts, millions", "warp instructions, millions", "DRAM MB"], rows)


def tool_times(results):
    rows = []
    for variant in results.manifest["variants"]:
        built = [f[variant["name"]] for f in results.manifest["built"].values() if variant["name"] in f]
        added = geometric_mean([b.get("ptxasw_ms") for b in built])
        assembled = geometric_mean([b.get("ptxas_ms") for b in built])
        rows.append([variant["name"], " ".join(variant["options"]) or "-", number(added, 1),
                     number(assembled, 1)])
    return table(["variant", "options", "ptxasw opt ms (geomean)", "ptxas ms (geomean)"], rows)


def bars(results, cases, title):
    """Grouped bars of the speed-up over the untouched kernel, as in the paper's Figure 2."""
    variants = [v for v in results.variants if not v.endswith("-again")] or results.variants
    values = {(c, v): results.speedup(c, v) for c in cases for v in variants}
    top = max([v for v in values.values() if v] + [1.2]) * 1.05
    bar, gap, height, left, under = 9, 10, 260, 46, 92
    group = bar * len(variants) + gap
    width = left + group * len(cases) + 20
    y = lambda value: 40 + height * (1 - value / top)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 40 + under}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="100%" height="100%" fill="white"/><text x="{left}" y="14" '
           f'font-size="13">{title}</text>']
    step = 0.25 if top < 2.5 else 0.5 if top < 5 else 1
    for n in range(int(top / step) + 1):
        out.append(f'<line x1="{left}" x2="{width - 8}" y1="{y(n * step):.1f}" y2="{y(n * step):.1f}" '
                   f'stroke="{"#333" if n * step == 1 else "#ddd"}"/>'
                   f'<text x="{left - 6}" y="{y(n * step) + 4:.1f}" text-anchor="end">{n * step:g}</text>')
    for place, case in enumerate(cases):
        x = left + place * group + gap / 2
        for n, variant in enumerate(variants):
            value = values[case, variant]
            if value:
                out.append(f'<rect x="{x + n * bar:.1f}" y="{y(value):.1f}" width="{bar - 1}" '
                           f'height="{y(0) - y(value):.1f}" fill="{COLOURS[(n + 1) % len(COLOURS)]}">'
                           f'<title>{results.label(case)} {variant}: {value:.3f}</title></rect>')
        middle = x + bar * len(variants) / 2
        out.append(f'<text transform="translate({middle:.1f},{y(0) + 12:.1f}) rotate(-40)" '
                   f'text-anchor="end">{results.label(case)}</text>')
    for n, variant in enumerate(variants):
        out.append(f'<rect x="{left + 110 * n}" y="22" width="10" height="10" '
                   f'fill="{COLOURS[(n + 1) % len(COLOURS)]}"/>'
                   f'<text x="{left + 14 + 110 * n}" y="31">{variant}</text>')
    return "\n".join(out + ["</svg>", ""])


def overview(results, tool_ratio):
    """One line a suite: geometric mean and worst case of each variant; the tool's own time."""
    shown = [v["name"] for v in results.manifest["variants"]
             if v["valid"] and v["timed"] and v["name"] in results.variants]
    suites = sorted({results.case(c)["suite"] for c in results.lines}, key="KSRUTBXN".find)
    rows = []
    for suite in [*suites, "all"]:
        cases = [c for c in results.lines if suite in ("all", results.case(c)["suite"])]
        row = [suite, len(cases)]
        for variant in shown:
            values = [v for v in (results.speedup(c, variant) for c in cases) if v]
            row.append(f"{number(geometric_mean(values))} ({number(min(values))})" if values else "-")
        rows.append(row + [tool_ratio(suite, column) for column in ("default", "none")])
    return table(["suite", "cases", *shown, "ptxasw / ptxas, default", "ptxasw / ptxas, `--coarsen=none`"],
                 rows)


def pages(data, stem, counted=None):
    """Writes STEM.md and a plot for each suite; `counted` is a run with the counters, if apart."""
    results = Results(data)
    parts = [f"# GPU results: {data['device'].get('device')}\n", headline(results),
             "## Correctness\n", correctness(results),
             "## Speed-up over the untouched kernel, by suite\n",
             f"`{results.plain}-again` is the same cubin measured twice: what differs by less is noise.\n",
             summary(results)]
    for suite in sorted({results.case(c)["suite"] for c in results.lines}):
        cases = [c for c in results.lines if results.case(c)["suite"] == suite]
        name = f"{stem.name}-{suite}.svg"
        title = f"Suite {suite}: speed-up over the untouched kernel, {data['device'].get('device')}"
        (stem.parent / name).write_text(bars(results, cases, title))
        parts.append(f"![Suite {suite}]({name})\n")
    parts += ["## Every case\n",
              "Times are medians per launch; spread is the interquartile range; the floor is each "
              "input read once and each output written once at copy bandwidth, or the arithmetic at "
              "peak rate.\n",
              details(results), "## Registers, spills, occupancy\n", resources(results),
              "## The tool's own time\n", tool_times(results)]
    counted = Results(counted) if counted else results
    if counted.counters:
        parts += ["## Counters (ncu)\n",
                  f"One launch of each kernel at its largest size with a cold cache, "
                  f"{counted.data['date'][:10]}, commit {(counted.manifest['commit'] or '')[:12]}; in "
                  "brackets the part of the untouched kernel's.\n", counters(counted)]
    stem.with_name(stem.name + ".md").write_text("\n".join(parts))
    return results
