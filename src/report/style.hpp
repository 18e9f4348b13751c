// The style sheet of the HTML report, for light and dark screens.
#pragma once

#include <string_view>

namespace ptxasw::report {

inline constexpr std::string_view style_sheet = R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1f2530; --soft: #667080; --rule: #dde2e9; --panel: #f6f8fa;
  --source: #3b6fd4; --covered: #23855a; --corner: #c8701a; --moved: #7a57c2; --kept: #a9b1bc;
  --kept-ink: #39414d; --sector: #10151d; --del: #ffe9e6; --ins: #e2f6e9; --link: #2559c0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171c; --ink: #dde3ea; --soft: #939dab; --rule: #2d343e; --panel: #1b2027;
    --source: #4a7fe0; --covered: #2c9567; --corner: #cf7c2c; --moved: #8a68d0; --kept: #5b6573;
    --kept-ink: #e6eaf0; --sector: #ffffff; --del: #43231f; --ins: #173724; --link: #86aef7;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 1240px; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.6rem 0 .2rem; overflow-wrap: anywhere; }
h3 { font-size: .95rem; margin: 1.6rem 0 .5rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
code, pre, .code, .addr {
  font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace;
  font-size: 12.5px;
}
.soft { color: var(--soft); }
.tiles { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; padding: 0; list-style: none; }
.tiles li {
  background: var(--panel); border: 1px solid var(--rule); border-radius: 8px;
  padding: .5rem .9rem; min-width: 6.5rem;
}
.tiles b { display: block; font-size: 1.25rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .82rem; }
.callout {
  border-left: 4px solid var(--corner); background: var(--panel); margin: .8rem 0;
  padding: .6rem .9rem; overflow-wrap: anywhere;
}
pre.messages { white-space: pre-wrap; overflow-wrap: anywhere; }
figure { margin: .8rem 0; }
.scroll { overflow: auto; max-height: 34rem; border: 1px solid var(--rule); border-radius: 8px; }
.scroll svg { display: block; width: 100%; min-width: 720px; height: auto; padding: .5rem 0; }
svg text { font-family: system-ui, "DejaVu Sans", sans-serif; font-size: 11px; fill: var(--ink); }
svg .line { text-anchor: end; fill: var(--link); }
svg .note { fill: var(--soft); }
svg .lane { text-anchor: middle; font-size: 8px; fill: #fff; pointer-events: none; }
svg .kept ~ .lane { fill: var(--kept-ink); }
.source { fill: var(--source); background: var(--source); }
.covered { fill: var(--covered); background: var(--covered); }
.corner { fill: var(--corner); background: var(--corner); }
.moved { fill: var(--moved); background: var(--moved); }
.kept { fill: var(--kept); background: var(--kept); }
svg .sector { stroke: var(--sector); stroke-width: 1.2; opacity: .75; pointer-events: none; }
figcaption { color: var(--soft); font-size: .85rem; margin-top: .5rem; }
.keys { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em; }
.key.sector { width: 2px; background: var(--sector); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--rule); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.w { white-space: nowrap; }
td.addr { overflow-wrap: anywhere; min-width: 15rem; }
td.out { overflow-wrap: anywhere; min-width: 13rem; }
td.out small { display: block; color: var(--soft); }
.dot { display: inline-block; width: .6em; height: .6em; border-radius: 50%; margin-right: .45em; }
.diff { border: 1px solid var(--rule); border-radius: 8px; overflow: hidden; }
.r { display: grid; grid-template-columns: 3.6rem minmax(0, 1fr) 3.6rem minmax(0, 1fr); }
.r > * { padding: 0 .5rem; line-height: 1.45; min-height: 1.45em; }
.r i {
  font-style: normal; text-align: right; color: var(--soft); user-select: none;
  border-left: 3px solid transparent; font-variant-numeric: tabular-nums; font-size: 11.5px;
}
.r .code { white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
.r .code + i { border-left: 1px solid var(--rule); }
.r .del { background: var(--del); }
.r .ins { background: var(--ins); }
.r .none { background: var(--panel); }
.r .m-covered { border-left-color: var(--covered); }
.r .m-moved { border-left-color: var(--moved); }
.r .m-source { border-left-color: var(--source); }
.r .m-kept { border-left-color: var(--kept); }
.r:target { outline: 2px solid var(--link); outline-offset: -2px; }
.heads { background: var(--panel); border-bottom: 1px solid var(--rule); font-weight: 600; }
.diff summary {
  cursor: pointer; color: var(--soft); background: var(--panel); padding: .15rem .9rem;
  font-size: .82rem; border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule);
}
)css";

} // namespace ptxasw::report
