/** The style of the page: light and dark, from the width of a phone on. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--bg:#fbfbf9;--fg:#1c1c1a;--soft:#6b6a65;--line:#dddcd5;--ok:#2c7a4b;--bad:#b3261e;--warn:#8a5a00;--bar:#7a9cc6;--bar2:#d0a878}
@media(prefers-color-scheme:dark){:root{--bg:#161614;--fg:#e8e6df;--soft:#a09e96;--line:#34332f;--ok:#7cc796;--bad:#f2938b;--warn:#e0b35c;--bar:#5b7fae;--bar2:#94703f}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
main,header,footer{max-width:60rem;margin:0 auto;padding:1rem}
h1{font-size:1.25rem;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1rem;margin:2rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line);overflow-wrap:anywhere}
table{border-collapse:collapse;font-size:.8125rem;width:100%}
th,td{text-align:right;padding:.15rem .5rem;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left;overflow-wrap:anywhere;min-width:8rem}
.scroll{overflow-x:auto;margin:.75rem 0}
.time{display:grid;grid-template-columns:max-content minmax(0,1fr) max-content;gap:.1rem .6rem;font-size:.8125rem;list-style:none;margin:.5rem 0;padding:0}
.time li{display:contents}
.time svg{width:100%;height:1rem;display:block}
.time .m{fill:var(--bar)}.time .t{fill:var(--bar2)}
.time span{color:var(--soft);font-variant-numeric:tabular-nums}
a{color:inherit}
.meta{color:var(--soft);font-size:.8125rem;display:flex;flex-wrap:wrap;gap:.1rem .8rem}
details{margin:.4rem 0}
summary{cursor:pointer;overflow-wrap:anywhere}
summary code{font:.8125rem/1.45 ui-monospace,monospace}
.think{color:var(--soft)}
.ok{color:var(--ok)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.note{font-size:.875rem;color:var(--warn);overflow-wrap:anywhere}
footer{color:var(--soft);font-size:.8125rem}
@media(max-width:34rem){main,header,footer{padding:.7rem}}
`;
