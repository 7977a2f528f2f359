"""The style sheet of the report: one column on phones, panels side by side on screens, plain on paper."""

STYLE = """
:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0;font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff}
main{max-width:76rem;margin:0 auto;padding:1.2rem}
h1{font-size:2rem;line-height:1.15;margin:.4rem 0;letter-spacing:-.01em}
h2{font-size:1.25rem;margin:2.4rem 0 .6rem;border-bottom:1px solid #ddd;padding-bottom:.25rem}
.paper,.where,.small,figcaption,footer{color:#555;font-size:.85rem}
.where{display:block}
h2 .where{display:inline;font-weight:normal}
.note{background:#fff4d6;border-left:4px solid #e69f00;padding:.5rem .75rem}
.facts{display:flex;flex-wrap:wrap;gap:.4rem;padding:0;margin:.6rem 0;list-style:none}
.facts li{background:#eef3f8;border-radius:1rem;padding:.1rem .7rem;font-size:.9rem}
.opening{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:1.6rem;align-items:center}
.opening>div:only-child{grid-column:1/-1}
.map{margin:0}.map svg{width:100%;height:auto;display:block}
.verdict{font-size:1.2rem;line-height:1.4;margin:.6rem 0;border-left:4px solid #0072b2;padding-left:.8rem}
.opening p{margin:.7rem 0}
.next{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .5rem;border-bottom:1px solid #e5e5e5}
thead th{background:#f6f6f6}tbody th{font-weight:normal}
tr.held td:last-child{color:#00694c}
tr.not-held td:last-child{color:#a33b00}
tr.undecided td:last-child{color:#7a5a00}
tr.not-judged td:last-child{color:#666}
.best,.tie{color:#005a8f;font-size:.75rem;text-transform:uppercase;letter-spacing:.04em}
.wide{overflow-x:auto}.claims{margin-top:.8rem}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));gap:.5rem 1rem}
.panel{margin:0}.panel svg{width:100%;height:auto;display:block}
.get{white-space:nowrap}.get a{margin-left:.3rem}
th .where{font-weight:normal;max-width:22rem}
details{margin:.5rem 0}
summary{cursor:pointer;color:#0060a0}
code,pre{font:.8rem/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
pre{white-space:pre-wrap;background:#f6f6f6;padding:.5rem}
dt{font-weight:600;margin-top:.4rem}
dt .where{display:inline;font-weight:normal}
dd{margin:0 0 0 1rem;font-size:.9rem}
dd details,td details{margin:.1rem 0}td ul{margin:.2rem 0;padding-left:1rem;font-size:.85rem}
h3{font-size:1rem;margin:.4rem 0 0}.causes td:first-child{text-align:right;white-space:nowrap}
a{color:#0060a0}
@media(max-width:56rem){.opening{grid-template-columns:minmax(0,1fr);gap:.4rem}}
@media(max-width:40rem){
main{padding:.8rem}h1{font-size:1.5rem}.verdict{font-size:1.1rem}
.claims thead{display:none}
.claims tr{display:block;border:1px solid #ddd;border-left:4px solid #999;border-radius:4px;margin:.6rem 0}
.claims tr.held{border-left-color:#009e73}.claims tr.not-held{border-left-color:#d55e00}
.claims tr.undecided{border-left-color:#e69f00}
.claims td{display:block;border:0;padding:.2rem .6rem}
.claims td:not(:first-child)::before{content:attr(data-label) ": ";color:#555}
.sides thead{display:none}
.sides tr{display:block;padding:.5rem 0;border-bottom:1px solid #ddd}
.sides th,.sides td{display:block;border:0;padding:.1rem .2rem}
.sides tbody th{font-weight:600}
.sides td::before{content:attr(data-label) ": ";color:#555}
}
@media screen and (prefers-color-scheme:dark){
body{color:#e3e9ed;background:#12191f}
.paper,.where,.small,figcaption,footer,tr.not-judged td:last-child{color:#a3b2bd}
h2{border-bottom-color:#33414c}th,td{border-bottom-color:#2a3640}thead th,pre{background:#1b252d}
.note{background:#33290f}.facts li{background:#1d2b37}
a,summary{color:#7cbcf5}.best,.tie{color:#7cbcf5}.verdict{border-left-color:#4f9fe0}
tr.held td:last-child{color:#58c99b}tr.not-held td:last-child{color:#ff9a66}
tr.undecided td:last-child{color:#e5bd57}
.panel svg,.map svg{filter:invert(.9) hue-rotate(180deg);border-radius:8px}
.claims td:not(:first-child)::before,.sides td::before{color:#a3b2bd}
}
@media print{
body{font-size:10pt}main{max-width:none;padding:0}h1{font-size:18pt}
.opening{grid-template-columns:minmax(0,3fr) minmax(0,2fr)}
section{break-inside:auto}.panel,tr,figure{break-inside:avoid}h2{break-after:avoid}.next{display:none}
details::details-content{content-visibility:visible;display:block;height:auto}
summary{color:inherit;list-style:none}.get,.downloads{display:none}pre{font-size:7pt}
.panels{grid-template-columns:repeat(3,1fr)}
}
"""
