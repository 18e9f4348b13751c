"""Suite L as a page and a picture: what a rewrite does to launches of every size, worst case first."""

import math

from tables import geometric_mean, number, rank_correlation, table

COLOURS = {"K": "#0072b2", "S": "#56b4e9", "T": "#009e73", "B": "#d55e00", "E": "#cc79a7", "M": "#e69f00",
           "X": "#6b4c9a", "R": "#795548", "U": "#9aa5b1", "N": "#333333"}
BANDS = [(0, 0.25), (0.25, 1), (1, 4), (4, 8), (8, 16), (16, 1e9)]


class Sweep:
    """Time of the untouched kernel over the variant's, by launch."""

    def __init__(self, data, variant=None):
        self.data, self.manifest = data, data["manifest"]
        names = [v["name"] for v in self.manifest["variants"]]
        self.plain, self.variant = names[0], variant or names[-1]
        self.lines = {}
        for line in data["modes"]["sweep"]:
            if line.get("median_us"):
                self.lines.setdefault(line["case"], {})[line["variant"]] = line
        self.gains, self.noise = self.ratios(self.variant), self.ratios(self.plain + "-again")

    def ratios(self, variant):
        return {case: lines[self.plain]["median_us"] / lines[variant]["median_us"]
                for case, lines in self.lines.items() if variant in lines and self.plain in lines}

    def info(self, case):
        return self.manifest["cases"][case]

    def where(self, condition):
        return [gain for case, gain in self.gains.items() if condition(self.info(case))]

    def choice(self, kernel):
        """The way that --coarsen=auto chose for it, if it chose one."""
        known = self.manifest["kernels"][kernel]
        built = self.manifest["built"][known["file"]][self.variant]
        chosen = [c for c in built.get("coarsening", {}).get(known["entry"], []) if c["chosen"]]
        return chosen[0] if chosen else None

    def merged(self, info):
        """Whether the launch is large enough for the kernel to merge its blocks; None: nothing was coarsened."""
        way = self.choice(info["kernel"])
        return way and math.prod(info["grid"]) * math.prod(info["block"]) >= (way.get("least_threads") or 0)

    def count(self, key, value):
        return sum(line.get(key) is value for line in self.data["modes"]["sweep"]
                   if line.get("variant") == self.variant)

    def errors(self):
        return [l for l in self.data["modes"]["sweep"] if "error" in l and l.get("variant") == self.variant]


def share_below(values, limit):
    return f"{100 * sum(v < limit for v in values) / max(1, len(values)):.1f} %"


def band_name(band):
    low, high = (f"{v:g}".replace("0.25", "1/4") for v in band)
    return f"below {high}" if band[0] == 0 else f"{low} and more" if band[1] > 1e6 else f"{low} to {high}"


def inside(band):
    return lambda info: band[0] <= info["waves"] < band[1]


def summary_rows(sweep):
    gains, noise = list(sweep.gains.values()), list(sweep.noise.values())
    worst = min(sweep.gains, key=sweep.gains.get)
    large = sweep.where(lambda info: info["waves"] >= 4)
    parts = [(words, sweep.where(lambda info: sweep.merged(info) is side))
             for words, side in (("launches whose blocks are merged", True), ("smaller ones, that run as before", False))]
    return [["worst launch", f"{sweep.gains[worst]:.3f} ({worst})", number(min(noise), 3)],
            ["launches below 0.97", share_below(gains, 0.97), share_below(noise, 0.97)],
            ["launches below 0.99", share_below(gains, 0.99), share_below(noise, 0.99)],
            ["geometric mean, all launches", number(geometric_mean(gains), 3), number(geometric_mean(noise), 3)],
            ["geometric mean, 4 waves and more", number(geometric_mean(large), 3), ""],
            *([f"{words}: geometric mean (worst, share)",
               f"{geometric_mean(of):.3f} ({min(of):.3f}, {100 * len(of) / len(gains):.0f} %)", ""]
              for words, of in parts if of),
            ["best launch", number(max(gains), 2), number(max(noise), 2)]]


def wave_rows(sweep):
    suites = sorted({sweep.info(c)["suite"] for c in sweep.gains}, key="KSRUTBXNEM".find)
    rows = []
    for suite in [*suites, "all"]:
        row = [suite]
        for band in BANDS:
            values = sweep.where(lambda info: inside(band)(info) and suite in ("all", info["suite"]))
            row.append(f"{geometric_mean(values):.2f} ({min(values):.2f}, {len(values)})" if values else "-")
        rows.append(row)
    return rows


def worst_rows(sweep, count):
    rows = []
    for case in sorted(sweep.gains, key=sweep.gains.get)[:count]:
        info, lines = sweep.info(case), sweep.lines[case]
        rows.append([info["kernel"], "x".join(map(str, info["grid"])), "x".join(map(str, info["block"])),
                     f"{info['waves']:.2f}", f"{lines[sweep.plain]['median_us']:.2f}",
                     f"{lines[sweep.plain]['registers']:.0f} -> {lines[sweep.variant]['registers']:.0f}",
                     number(sweep.gains[case], 3), number(sweep.noise.get(case), 3)])
    return rows


def kernel_rows(sweep):
    rows = []
    for kernel in dict.fromkeys(sweep.info(c)["kernel"] for c in sweep.gains):
        of = {c: g for c, g in sweep.gains.items() if sweep.info(c)["kernel"] == kernel}
        large = [g for c, g in of.items() if sweep.info(c)["waves"] >= 4]
        rows.append([kernel, len(of), number(min(of.values()), 3), number(geometric_mean(list(of.values())), 3),
                     number(geometric_mean(large), 3), number(max(of.values()), 2)])
    return sorted(rows, key=lambda row: float(row[2]))


def prediction_rows(sweep):
    """What was chosen for each kernel and what the model predicted, beside what its launches gained that are large
    enough to be merged."""
    rows = []
    for kernel in dict.fromkeys(sweep.info(c)["kernel"] for c in sweep.gains):
        way = sweep.choice(kernel)
        merged = sweep.where(lambda info: info["kernel"] == kernel and sweep.merged(info))
        if merged:
            axes = ",".join(f"{a}:{f}" for a, f in zip("xyz", way["factors"]) if f > 1)
            rows.append([kernel, axes, number(way["gain"]), number(geometric_mean(merged)),
                         number(way.get("worst")), number(min(merged)), len(merged)])
    return sorted(rows, key=lambda row: -float(row[2]))


def picture(sweep):
    """Gain over waves, both logarithmic, one dot a launch."""
    width, height, left, top, right, bottom = 860, 420, 60, 40, 20, 50
    low, high = min(0.9, min(sweep.gains.values())) * 0.98, max(1.2, max(sweep.gains.values())) * 1.03
    x = lambda waves: left + (width - left - right) * (math.log2(max(waves, 0.01)) + 4) / 11
    y = lambda gain: height - bottom - (height - top - bottom) * math.log(gain / low) / math.log(high / low)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
           f'font-size="11"><rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="16" font-size="13">{len(sweep.gains)} launches, {sweep.variant} against the '
           f'untouched kernel, {sweep.data["device"].get("device")}</text>']
    for n in range(-3, 7):
        name = f"1/{2 ** -n}" if n < 0 else str(2 ** n)
        out.append(f'<line x1="{x(2 ** n):.1f}" x2="{x(2 ** n):.1f}" y1="{top}" y2="{height - bottom}" stroke="#eee"/>'
                   f'<text x="{x(2 ** n):.1f}" y="{height - bottom + 15}" text-anchor="middle">{name}</text>')
    for gain in (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.97, 1, 1.1, 1.2, 1.5, 2, 3, 4):
        if low < gain < high:
            out.append(f'<line x1="{left}" x2="{width - right}" y1="{y(gain):.1f}" y2="{y(gain):.1f}" '
                       f'stroke="{"#333" if gain == 1 else "#d55e00" if gain == 0.97 else "#eee"}"/>'
                       f'<text x="{left - 6}" y="{y(gain) + 4:.1f}" text-anchor="end">{gain:g}</text>')
    out.append(f'<text x="{(left + width) / 2:.0f}" y="{height - 12}" text-anchor="middle">waves of the untouched '
               'launch</text>')
    for case, gain in sweep.gains.items():
        info = sweep.info(case)
        out.append(f'<circle cx="{x(info["waves"]):.1f}" cy="{y(gain):.1f}" r="2.2" fill-opacity="0.6" '
                   f'fill="{COLOURS.get(info["suite"], "#000")}"><title>{case}: {gain:.3f}</title></circle>')
    for n, suite in enumerate(s for s in COLOURS if any(sweep.info(c)["suite"] == s for c in sweep.gains)):
        out.append(f'<circle cx="{left + 8 + 40 * n}" cy="28" r="4" fill="{COLOURS[suite]}"/>'
                   f'<text x="{left + 16 + 40 * n}" y="32">{suite}</text>')
    return "\n".join(out + ["</svg>", ""])


def page(sweep, svg):
    data, gpu = sweep.data, sweep.data.get("gpu", {})
    options = next(v for v in sweep.manifest["variants"] if v["name"] == sweep.variant)["options"]
    alone = sweep.manifest["left_alone"]
    parts = [
        "# Suite L: launches of every size\n",
        f"{data['device'].get('device')}, driver {gpu.get('driver_version')}, {data['date'][:10]}, commit "
        f"{(sweep.manifest['commit'] or '')[:12]}; options `{' '.join(options) or 'none'}`. Time of the untouched "
        f"kernel over that of the rewritten one, medians of interleaved rounds; {len(sweep.gains)} launches of "
        f"{len({sweep.info(c)['kernel'] for c in sweep.gains})} kernels, {sweep.count('equal', True)} equal bit for "
        f"bit, {sweep.count('equal', False)} different, {len(sweep.errors())} failed. {len(alone)} more kernels were "
        "left alone and are not in these figures. Noise: the untouched kernel against itself.\n",
        table(["", "rewritten", "noise"], summary_rows(sweep)),
        f"![Gain over waves]({svg})\n",
        "## By waves of the untouched launch: geometric mean (worst, launches)\n",
        table(["suite", *map(band_name, BANDS)], wave_rows(sweep)),
        "## The worst launches\n",
        table(["kernel", "grid", "block", "waves", "us", "registers", "gain", "noise"], worst_rows(sweep, 25)),
        "## By kernel, worst first\n",
        table(["kernel", "launches", "worst", "geomean", "4 waves and more", "best"], kernel_rows(sweep)),
        f"Left alone: {', '.join(alone) or 'none'}.\n"]
    if rows := prediction_rows(sweep):
        correlation = rank_correlation([float(r[2]) for r in rows], [float(r[3]) for r in rows])
        parts += [
            "## Predicted and measured, launches that are merged\n",
            f"Rank correlation of predicted and measured means: {correlation:.2f}. How the constants were fitted, and "
            "how they do on kernels that they were not fitted to: [fit.md](fit.md).\n",
            table(["kernel", "way", "predicted", "measured", "worst predicted", "worst measured", "launches"], rows)]
    return "\n".join(parts)


def write(sweep, stem):
    """STEM.md and STEM.svg."""
    svg = stem.with_name(stem.name + ".svg")
    svg.write_text(picture(sweep))
    stem.with_name(stem.name + ".md").write_text(page(sweep, svg.name))
    return sweep
