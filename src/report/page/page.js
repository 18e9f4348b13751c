"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

// An element with attributes and children; text is text, never markup.
function make(tag, attributes, ...children) {
  const svg = ["svg", "g", "rect", "text", "path", "title"].includes(tag);
  const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined && value !== "") node.setAttribute(name, value);
  for (const child of children.flat(3))
    if (child !== null && child !== undefined && child !== false) node.append(child);
  return node;
}
const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : noun.endsWith("y") ? "ies" : "s"}`.replace("yies", "ies");
const times = (gain) => `${gain.toFixed(2)}\u00d7`;
const tile = (value, what) => make("li", {}, make("b", {}, value), make("span", {}, what));
const key = (style, meaning) => make("span", {}, make("span", { class: "key " + style }), meaning);

// "foo<int>" of "void foo<int>(float*)".
function short(kernel) {
  let name = kernel.demangled || kernel.name, depth = 0;
  if (name.endsWith(")"))
    for (let i = name.length; i-- > 0;) {
      depth += name[i] === ")" ? 1 : name[i] === "(" ? -1 : 0;
      if (depth === 0) { name = name.slice(0, i); break; }
    }
  return name.replace(/^void /, "") || kernel.name;
}
const gainOf = (kernel) => (kernel.changed && kernel.predicted_gain) || 0;
// What would gain most, of a kernel that was left as it is.
const hintOf = (kernel) => kernel.changed ? null : (kernel.hints || []).filter((h) => h.predicted_gain).sort((a, b) => b.predicted_gain - a.predicted_gain)[0];

// ---- loads as lanes over addresses: the load of lane + N lies N cells right of its source
const LANES = 32, LEFT = 84, CELL = 15, ROW = 19, HEIGHT = 14, MOST = 40;

function families(kernel) {
  const all = [], places = new Map();
  for (const access of kernel.accesses) {
    if (access.kind === "store") continue;
    const source = access.rewrite && places.get(access.rewrite.from_line);
    const clamp = (x, most) => Math.max(-most, Math.min(most, x));
    const place = source
      ? { family: source.family, offset: clamp(source.offset + clamp(access.rewrite.delta, LANES), 2 * LANES) }
      : { family: all.push([]) - 1, offset: 0 };
    all[place.family].push({ access, offset: place.offset });
    places.set(access.line, place);
  }
  return all;
}

function cells(strip, feeds, first, y) {
  const { access, offset } = strip, x = (lane) => LEFT + (offset + lane - first) * CELL;
  const group = make("g", {}, make("title", {}, `line ${access.line}: ${access.address}`));
  const delta = access.rewrite ? access.rewrite.delta : 0;
  for (let lane = 0; lane < LANES; ++lane) {
    const held = access.outcome === "shuffled" && lane + delta >= 0 && lane + delta < LANES;
    const style = access.outcome === "shuffled" ? (held ? "covered" : "corner")
      : access.outcome !== "kept" ? "moved" : feeds ? "source" : "kept";
    group.append(make("rect", { class: style, x: x(lane), y, width: CELL - 1, height: HEIGHT, rx: 2 }));
    group.append(make("text", { class: "lane" + (style === "kept" ? " dim" : ""), x: x(lane) + CELL / 2 - .5, y: y + HEIGHT - 4 }, lane));
  }
  return group;
}

function lanes(kernel) {
  let rows = 0;
  const shown = families(kernel).filter((f) => f.length > 1 && (rows += f.length) <= MOST);
  if (!shown.length) return null;
  const offsets = shown.flat().map((s) => s.offset);
  const first = Math.min(...offsets), last = Math.max(...offsets) + LANES;
  const body = make("g");
  let y = 4;
  for (const family of shown) {
    const top = y;
    for (const strip of family) {
      body.append(make("text", { x: 0, y: y + HEIGHT - 3 }, `line ${strip.access.line}`));
      body.append(cells(strip, family.length > 1, first, y));
      const { outcome, rewrite } = strip.access;
      const note = outcome === "shuffled" ? `lane ${rewrite.delta > 0 ? "+" : ""}${rewrite.delta} of line ${rewrite.from_line}`
        : outcome !== "kept" ? `register of line ${rewrite.from_line}` : `${strip.access.class}, feeds ${family.length - 1}`;
      body.append(make("text", { x: LEFT + (last - first) * CELL + 10, y: y + HEIGHT - 3 }, note));
      y += ROW;
    }
    const stride = Math.abs(family[0].access.lane_stride || 0);
    if (stride > 0 && stride < 32)
      for (let x = 0; x <= last - first; x += 32 / stride)
        body.append(make("path", { class: "end", d: `M${LEFT + x * CELL - .5} ${top - 2}v${y - top - 1}` }));
    y += 10;
  }
  const width = LEFT + (last - first) * CELL + 190;
  return make("figure", {}, make("div", { class: "scroll" },
    make("svg", { viewBox: `0 0 ${width} ${y}`, width, height: y, role: "img", "aria-label": `Loads of ${short(kernel)} as lanes over addresses` }, body)),
    make("figcaption", {}, make("div", { class: "keys" }, key("source", "load that feeds others"), key("covered", "value from another lane"),
      key("corner", "lanes that load"), key("moved", "value from a register"), key("sector", "end of a 32-byte sector")),
      "One cell for each lane, one column for each address. A lane in a lower row wants what the lane above it holds."));
}

// ---- thread-block coarsening: who loads what, before and after
function coarsened(kernel) {
  const chosen = kernel.coarsen && kernel.coarsen.candidates.find((c) => c.chosen);
  const original = kernel.coarsen && kernel.coarsen.original.work;
  if (!kernel.changed || !chosen || !original || !original.loads) return null;
  const copies = chosen.factors.reduce((a, b) => a * b, 1), axis = "xyz"[chosen.factors.findIndex((f) => f > 1)];
  const before = original.loads, after = chosen.work.loads, scale = 560 / (copies * before), body = make("g");
  const row = (y, text, parts, note) => {
    body.append(make("text", { x: 0, y: y + 15 }, text));
    let x = 210;
    for (const [count, style] of parts) {
      body.append(make("rect", { class: style, x, y, width: Math.max(3, count * scale - 2), height: 20, rx: 3 }));
      x += count * scale;
    }
    body.append(make("text", { x: x + 8, y: y + 15 }, note));
  };
  const number = (n) => (Math.round(n * 10) / 10).toString();
  row(4, `${copies} blocks along ${axis}, before`, Array(copies).fill([before, "kept"]), `${number(copies * before)} loads`);
  row(32, "one block instead of them", [[copies * after, "covered"]], `${number(copies * after)} loads`);
  return make("figure", {}, make("div", { class: "scroll" },
    make("svg", { viewBox: "0 0 880 58", width: 880, height: 58, role: "img", "aria-label": "Loads before and after" }, body)),
    make("figcaption", {}, "Loads that a thread and the threads that it stands for do, a loop counted with the iterations that the model takes it to make."));
}

// ---- several time steps in one launch: what is right behind each
function steps(kernel) {
  const t = kernel.step_tile;
  if (!t) return null;
  const [before, behind] = t.beside_centre, [back, ahead] = t.step_reads;
  if (before + behind >= t.width || t.count * back > before || t.count * ahead > behind) return null;
  const x = (place) => 90 + place / t.width * 760, body = make("g"), middle = (before + t.width - behind) / 2;
  for (let step = 0; step <= t.count; ++step) {
    const y = 10 + step * 20, bar = (from, to, style) =>
      body.append(make("rect", { class: style, x: x(from), y, width: x(to) - x(from), height: 14, rx: 2 }));
    body.append(make("text", { x: 0, y: y + 11 }, step ? `step ${step}` : "loaded"));
    bar(0, t.width, "kept");
    bar(step * back, t.width - step * ahead, "covered");
    bar(middle - (t.count - step) * back, middle + (t.count - step) * ahead + 1, "source");
  }
  const bottom = 10 + t.count * 20 + 14;
  for (const side of [before, t.width - behind]) body.append(make("path", { class: "end", d: `M${x(side)} 6V${bottom + 4}` }));
  return make("figure", {}, make("div", { class: "scroll" },
    make("svg", { viewBox: `0 0 880 ${bottom + 12}`, width: 880, height: bottom + 12, role: "img", "aria-label": `One tile of ${short(kernel)} over ${t.count} steps` }, body)),
    make("figcaption", {}, make("div", { class: "keys" }, key("covered", "as single launches would have it"), key("kept", "computed from beyond the tile"),
      key("source", "what one element rests on"), key("sector", "the centre, which is stored"))));
}

// ---- loads in families that differ by an offset
function familyRows(kernel) {
  const supplies = new Set(kernel.accesses.filter((a) => a.rewrite).map((a) => a.rewrite.from_line)), all = new Map();
  for (const a of kernel.accesses) {
    const style = a.outcome === "shuffled" ? "covered" : a.outcome !== "kept" ? "moved" : supplies.has(a.line) ? "source" : "kept";
    const what = a.outcome !== "kept" ? a.outcome : supplies.has(a.line) ? "kept: supplies others" : a.reason_code || a.kind;
    const id = [a.kind, a.space, a.qualifiers, a.bytes, a.sectors.least, a.sectors.most, a.class, what].join();
    if (!all.has(id)) all.set(id, { style, what, members: [] });
    all.get(id).members.push(a);
  }
  return [...all.values()];
}

function outcomeText(family) {
  const a = family.members[0];
  if (a.outcome !== "kept") return `${a.outcome} from line ${a.rewrite.from_line}` + (family.members.length > 1 ? ", \u2026" : "");
  return family.what.startsWith("kept") ? family.what : a.reason || "";
}

function accesses(kernel) {
  if (!kernel.accesses.length) return null;
  const body = make("tbody");
  for (const family of familyRows(kernel)) {
    const a = family.members[0], n = family.members.length, all = family.members.slice(0, 200);
    const facts = (a.rewrite ? a.rewrite.facts : []).filter((f) => f.kind === "checked" || f.kind === "promised");
    const link = (m) => make("a", { href: "#L" + m.line }, m.line);
    const where = a.source ? `${a.source.file.split("/").pop()}:${a.source.line}` : "";
    const members = n > 1 && make("details", {}, make("summary", {}, "each of them"), make("div", { class: "mono" },
      all.map((m) => make("div", {}, link(m), " ", m.address)), n > all.length && make("div", { class: "soft" }, `${n - all.length} more; the JSON report has them`)));
    body.append(make("tr", {}, make("td", { class: "n" }, n), make("td", {}, make("code", {}, `${a.kind === "store" ? "st" : "ld"}.${a.space}${a.qualifiers}`), where && make("small", {}, where)),
      make("td", { class: "n" }, a.bytes), make("td", { class: "n" }, a.sectors.least === a.sectors.most ? a.sectors.most : `${a.sectors.least}\u2013${a.sectors.most}`),
      make("td", {}, a.class), make("td", { class: "wrap" }, a.kind === "store" ? null : make("span", { class: "dot " + family.style }), outcomeText(family),
        facts.map((f) => make("small", {}, `${f.kind}: ${f.text}`)), a.rewrite && a.rewrite.proof && make("small", {}, `proof: ${a.rewrite.proof}`)),
      make("td", { class: "wrap" }, make("span", { class: "mono" }, n === 1 ? link(a) : null, n === 1 ? " " + a.address : null), members)));
  }
  const head = [["n", "number"], ["", "access"], ["n", "bytes"], ["n", "sectors"], ["", "class"], ["", "outcome"], ["", "line, address"]];
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, head.map(([c, t]) => make("th", { class: c }, t)))), body));
}

// ---- before and after, side by side
let lineNumbers; // before-lines that are in the page
function rowsOf(hunks) {
  const rows = [];
  for (const h of hunks) {
    const count = Math.max(h.before.length, h.after ? h.after.length : 0);
    for (let i = 0; i < count; ++i) {
      const old = i < h.before.length, fresh = h.after ? i < h.after.length : true;
      rows.push({ same: !h.after, b: old ? h.before_line + i : 0, bt: old ? h.before[i] : "", a: fresh ? h.after_line + i : 0, at: fresh ? (h.after ? h.after[i] : h.before[i]) : "" });
    }
    if (h.left_out) rows.push({ same: true, b: 0, a: 0, bt: `${h.left_out} more lines, not in this page`, at: "", gap: true });
  }
  return rows;
}

function sideBySide(rows, marks) {
  const box = make("div", { class: "diff" }, make("div", { class: "r top" }, make("i"), make("span", {}, "before"), make("i"), make("span", {}, "after")));
  const put = (to, r) => {
    const mark = marks.get(r.b), old = r.same ? "" : r.b ? "del" : "none", fresh = r.same ? "" : r.a ? "ins" : "none";
    if (r.b) lineNumbers.add(r.b);
    to.append(make("div", { class: "r", id: r.b ? "L" + r.b : null }, make("i", { class: old + (mark ? " m-" + mark : "") }, r.b || ""), make("span", { class: "code " + old }, r.bt),
      make("i", { class: fresh }, r.a || ""), make("span", { class: "code " + fresh }, r.at)));
  };
  for (let i = 0; i < rows.length;) {
    const near = (k) => !rows[k].same || [-3, -2, -1, 1, 2, 3].some((d) => rows[k + d] && !rows[k + d].same);
    let end = i;
    while (end < rows.length && near(end) === near(i)) ++end;
    const fold = !near(i) && end - i >= 6;
    const to = fold ? make("details", {}, make("summary", {}, `${end - i} unchanged lines`)) : box;
    for (; i < end; ++i) put(to, rows[i]);
    if (fold) box.append(to);
  }
  return box;
}

// ---- one kernel
function decisions(kernel) {
  return Object.entries(kernel.decisions).filter(([, d]) => d.status !== "not-asked").map(([pass, d]) => {
    const text = d.text || kernel[pass] || "";
    return typeof text === "string" && text ? make("tr", {}, make("td", {}, pass), make("td", {}, d.status), make("td", { class: "wrap" }, text)) : null;
  });
}

function candidates(kernel) {
  const ways = kernel.coarsen ? kernel.coarsen.candidates : [];
  if (!ways.length) return null;
  const usage = (u) => [u ? u.registers : "\u2013", u ? u.path : "\u2013"];
  const cells = (values) => values.map((v) => make("td", { class: "n" }, v));
  const row = (name, work, u, gain, verdict) => make("tr", {}, make("td", {}, name), cells([...usage(u), work.loads.toFixed(1), gain]), make("td", { class: "wrap" }, verdict));
  const head = ["candidate", "registers", "instructions", "loads", "gain", "verdict"];
  return make("details", {}, make("summary", {}, plural(ways.length, "candidate") + " considered"), make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, head.map((h, i) => make("th", { class: i > 0 && i < 5 ? "n" : "" }, h)))),
    make("tbody", {}, row("as it is", kernel.coarsen.original.work, kernel.coarsen.original.usage, "1.00", ""), ways.map((w) =>
      row(w.factors.map((f, i) => (f > 1 ? "xyz"[i] + ":" + f : "")).filter(Boolean).join(" ") + ", " + w.order, w.work, w.usage, w.gain ? w.gain.toFixed(2) : "\u2013", w.chosen ? "chosen" : w.verdict))))));
}

function helpOf(kernel) {
  if (kernel.would_help) return make("p", { class: "help" }, "What would help: " + kernel.would_help);
  return kernel.hints_sought && !kernel.changed ? make("p", { class: "help" }, "Nothing in ptxasw is known to help this kernel.") : null;
}

function card(kernel, rows) {
  const gain = gainOf(kernel), marks = new Map(), done = decisions(kernel).filter(Boolean);
  for (const family of familyRows(kernel)) for (const a of family.members) if (a.kind !== "store") marks.set(a.line, family.style);
  const said = Object.entries(kernel.decisions).filter(([, d]) => d.status === "done").map(([pass, d]) => d.text || kernel[pass]).filter((s) => typeof s === "string" && s);
  const reasons = kernel.changed ? [] : kernel.why_unchanged.slice(0, 1);
  const changedRows = rows.some((r) => !r.same);
  return make("section", { class: "card", id: "kernel-" + kernel.name },
    make("div", { class: "head" }, make("h2", {}, short(kernel)), make("span", { class: "badge " + (kernel.changed ? "yes" : "no") },
      kernel.changed ? "rewritten" + (gain ? ", predicted " + times(gain) : "") : "left as it is" + (kernel.decisions.steps?.status === "done" ? ", with entries for several steps" : "")),
      kernel.line ? make("a", { href: "#L" + kernel.line, class: "soft" }, "PTX line " + kernel.line) : null),
    short(kernel) === kernel.demangled ? null : make("code", { class: "soft" }, kernel.demangled),
    make("p", { class: "why" }, kernel.changed ? kernel.verdict.replace(/; predicted.*/, "") : reasons.map((r) => `${r.text} [${r.code}]`)),
    kernel.changed ? said.map((text) => make("p", { class: "why soft" }, text)) : null,
    helpOf(kernel),
    coarsened(kernel), steps(kernel), lanes(kernel),
    kernel.accesses.length ? make("h3", {}, plural(kernel.loads, "load") + " in the text of the kernel" + (kernel.covered ? `, ${kernel.covered} of which another lane holds` : "")) : null, accesses(kernel),
    done.length ? make("details", {}, make("summary", {}, "what each pass decided"), make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, done)))) : null, candidates(kernel),
    rows.length ? make("details", { open: changedRows && kernel === data.first ? "" : null, class: "text" }, make("summary", {}, changedRows ? "PTX before and after, side by side" : "PTX"), sideBySide(rows, marks)) : null);
}

function overview(kernels) {
  if (kernels.length < 2) return null;
  const most = Math.max(1, ...kernels.map(gainOf));
  return make("section", { class: "card" }, make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ["kernel", "predicted gain", "", "loads", "reason"].map((h, i) => make("th", { class: i === 1 || i === 3 ? "n" : "" }, h)))),
    make("tbody", {}, kernels.map((k) => make("tr", {}, make("td", { class: "wrap" }, make("a", { href: "#kernel-" + k.name }, short(k))), make("td", { class: "n" }, gainOf(k) ? times(gainOf(k)) : hintOf(k) ? make("span", { class: "soft" }, `${times(hintOf(k).predicted_gain)} with ${hintOf(k).what}`) : ""),
      make("td", {}, gainOf(k) ? make("span", { class: "bar", style: `width:${Math.round(110 * gainOf(k) / most)}px` }) : ""), make("td", { class: "n" }, k.loads),
      make("td", {}, k.changed ? k.verdict.replace(/; predicted.*/, "") : (k.why_unchanged[0] || { code: "" }).code)))))));
}

// ---- the page of a module
function report() {
  const all = data.report, rows = rowsOf(data.text || []);
  lineNumbers = new Set();
  const kernels = [...all.kernels].sort((a, b) => gainOf(b) - gainOf(a) || Number(b.changed) - Number(a.changed) || (hintOf(b)?.predicted_gain || 0) - (hintOf(a)?.predicted_gain || 0) ||
    (a.why_unchanged[0] || { code: "" }).code.localeCompare((b.why_unchanged[0] || { code: "" }).code));
  const sum = (field) => all.kernels.reduce((n, k) => n + k[field], 0);
  const best = Math.max(0, ...all.kernels.map(gainOf)), changed = all.kernels.filter((k) => k.changed).length;
  data.first = kernels[0];
  const starts = all.kernels.map((k) => k.line).filter(Boolean).sort((a, b) => a - b);
  const part = (kernel) => {
    if (!kernel.line) return [];
    const from = starts[0] === kernel.line ? 0 : kernel.line, to = starts.find((l) => l > kernel.line) || Infinity;
    let at = 0;
    return rows.filter((r) => { if (r.b) at = r.b; return at >= from && at < to; });
  };
  document.title = (all.file.split("/").pop() || "input") + " - ptxasw";
  document.body.prepend(make("header", {}, make("div", { class: "soft" }, "ptxasw report"), make("h1", {}, all.file.split("/").pop() || "<input>"),
    make("ul", { class: "tiles" }, tile(all.kernels.length, all.kernels.length === 1 ? "kernel" : "kernels"), tile(changed, "rewritten"), best ? tile(times(best), "best predicted gain") : null,
      tile(sum("loads"), "loads"), sum("shuffles") + sum("moves") ? tile(sum("shuffles") + sum("moves"), "from registers") : null,
      tile((all.milliseconds.parse + all.milliseconds.analyze + all.milliseconds.print + all.milliseconds.search).toFixed(0) + " ms", "analysis took"))),
    make("main", {}, all.messages.length ? make("pre", { class: "messages" }, all.messages.map((m) => m.text + "\n")) : null, overview(kernels), kernels.map((k) => card(k, part(k)))),
    make("footer", {}, all.promise ? "What is promised: " + all.promise + "." : ""));
  for (const link of document.querySelectorAll('a[href^="#L"]'))
    if (!lineNumbers.has(Number(link.hash.slice(2)))) link.replaceWith(...link.childNodes);
  addEventListener("hashchange", show);
  show();
}

// Unfolds what is around a line that a link leads to.
function show() {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (const other of document.querySelectorAll(".here")) other.classList.remove("here");
  if (!row) return;
  for (let up = row; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  if (row.classList.contains("r")) row.classList.add("here");
  row.scrollIntoView({ block: row.classList.contains("r") ? "center" : "start" });
}

// ---- the images that a program loaded, and what became of them
function images() {
  if (!data.images || !data.images.length) return null;
  const known = (n) => make("td", { class: "n" }, n === undefined ? "\u2013" : n);
  const head = [["", "file"], ["", "state"], ["n", "images"], ["", "PTX"], ["n", "kernels"], ["n", "versions"]];
  return make("section", { class: "card" }, make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, head.map(([c, t]) => make("th", { class: c }, t)))),
    make("tbody", {}, data.images.map((i) => make("tr", {}, make("td", { class: "wrap" }, i.file, i.words ? make("small", {}, i.words) : null),
      make("td", {}, i.state), known(i.images), make("td", {}, i.ptx ? "yes" : "no"), known(i.kernels), known(i.versions)))))));
}

// ---- options of the launcher that the run did not have
function advice() {
  if (!data.hints || !data.hints.length) return null;
  return make("section", { class: "card" }, make("h2", {}, "What would help"),
    make("ul", {}, data.hints.map((h) => make("li", {}, make("code", {}, "ptxasw launch " + h.what), " \u2013 " + h.text))));
}

// ---- the page of a run under the launcher
function launches() {
  const rows = data.launches.map((r) => ({ ...r, ms: r.microseconds * r.launches / 1000 })).sort((a, b) => b.ms - a.ms || b.launches - a.launches);
  const before = (r) => r.ms * Math.max(1, r.gain || 1), all = rows.reduce((n, r) => n + before(r), 0), now = rows.reduce((n, r) => n + r.ms, 0);
  const gain = (r) => r.gain ? times(r.gain) : r.predicted && r.predicted !== 1 ? "~" + times(r.predicted) : "";
  const most = Math.max(1e-9, ...rows.map(before)), width = (ms) => Math.round(2600 * ms / most) / 10;
  const saved = (r) => (r.gain > 1 ? r.ms * (r.gain - 1) : 0);
  const sum = (field) => rows.reduce((n, r) => n + (r[field] || 0), 0);
  const head = [["", "kernel"], ["", "version"], ["n", "launches"], ["n", "\u00b5s each"], ["n", "ms"], ["n", "gain"], ["", "time, and what was saved"]];
  document.title = "ptxasw launch";
  document.body.prepend(make("header", {}, make("div", { class: "soft" }, "ptxasw launch"), make("h1", {}, data.program || "Where the time of the kernels went"),
    make("ul", { class: "tiles" }, tile(sum("launches").toLocaleString("en"), "launches"), tile(now.toFixed(1) + " ms", "in kernels, by the samples"),
      all > now ? tile(times(all / now), "gain of all of them") : null, sum("checked") ? tile(sum("checked"), "checked, no difference") : null,
      sum("unchecked") ? tile(sum("unchecked"), "could not be checked") : null)),
    make("main", {}, make("section", { class: "card" }, rows.length ? make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, head.map(([c, t]) => make("th", { class: c }, t)))),
      make("tbody", {}, rows.map((r) => make("tr", {}, make("td", { class: "wrap" }, short({ ...r, name: r.kernel }), make("small", {}, [r.grid && "grid " + r.grid, r.block && "block " + r.block, r.note].filter(Boolean).join(", "))),
        make("td", {}, r.variant), make("td", { class: "n" }, r.launches.toLocaleString("en")), make("td", { class: "n" }, r.microseconds ? r.microseconds.toFixed(2) : ""),
        make("td", { class: "n" }, r.ms ? r.ms.toFixed(3) : ""), make("td", { class: "n" }, gain(r)),
        make("td", {}, make("span", { class: "bar", style: `width:${width(r.ms)}px` }), saved(r) ? make("span", { class: "bar saved", style: `width:${width(saved(r))}px` }) : null)))))) : "No kernel was launched through the launcher."),
    advice(), images(), make("p", { class: "soft" }, "Gains are measured: the original's time over the version's. ~: predicted, not measured.")));
}

data.report ? report() : launches();
