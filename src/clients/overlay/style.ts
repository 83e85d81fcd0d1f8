/** Styles of the overlay, beside those of its host element. */
export const STYLE = `
.all{--paper:#fff;--soft:#f4f5f7;--ink:#1c1e21;--dim:#5a6069;--line:#d9dce1;--main:#1d4fc4;--on-main:#fff;--mark:#b06000;--danger:#b3261e;--tint:#e7edfc;color-scheme:light;color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;text-align:start}
@media(prefers-color-scheme:dark){.all{--paper:#1b1d21;--soft:#26292f;--ink:#eceef1;--dim:#a8afba;--line:#3b4049;--main:#8fb2ff;--on-main:#0c1d45;--mark:#ffc457;--danger:#ff9a91;--tint:#26324d;color-scheme:dark}}
.layer{position:absolute;inset:0;overflow:hidden;pointer-events:none}
.mark{position:absolute;background:rgb(255 205 40/.24);border-bottom:2px solid #c48400}
.mark.current{background:rgb(255 180 0/.42);border-bottom-width:3px}
h2,h3,p,ul,dl,dd,blockquote{margin:0;padding:0}
ul{list-style:none}
button,input,textarea{font:inherit;color:inherit;margin:0}
button{cursor:pointer;border:1px solid transparent;border-radius:8px;padding:5px 12px;min-height:32px;background:var(--soft)}
button:hover{background:var(--tint)}
button[aria-disabled=true]{opacity:.55;cursor:progress}
button.main{background:var(--main);color:var(--on-main);font-weight:600}
button.main:hover{filter:brightness(1.08)}
button.plain{background:none;color:var(--main);padding:4px 8px;font-size:14px}
button.plain:hover{text-decoration:underline}
button.danger{color:var(--danger)}
button.wide{width:100%;border:1px dashed var(--line);background:none;color:var(--dim);text-align:start;padding:9px 12px}
:focus-visible{outline:3px solid var(--main);outline-offset:2px}
svg{width:20px;height:20px;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round;display:block}
.launcher,.pick{position:absolute;display:flex;align-items:center;gap:8px;background:var(--main);color:var(--on-main);font-weight:600;box-shadow:0 4px 16px rgb(0 0 0/.28);border:1px solid var(--paper)}
.launcher:hover,.pick:hover{background:var(--main);filter:brightness(1.08)}
.launcher{inset-inline-end:max(16px,env(safe-area-inset-right));bottom:max(16px,env(safe-area-inset-bottom));border-radius:24px;padding:0;min-width:48px;height:48px;justify-content:center}
.launcher b{position:absolute;top:-5px;inset-inline-end:-5px;min-width:22px;padding:0 6px;border-radius:11px;background:#b3261e;color:#fff;font-size:13px;line-height:22px;text-align:center}
.pick{border-radius:18px;min-height:36px;padding:4px 14px 4px 10px}
.backdrop{position:absolute;inset:0;background:rgb(0 0 0/.45)}
.panel{position:absolute;inset-block:16px;inset-inline-end:16px;width:372px;display:flex;flex-direction:column;background:var(--paper);border:1px solid var(--line);border-radius:14px;box-shadow:0 12px 40px rgb(0 0 0/.28);overflow:hidden}
.header,.footer{display:flex;align-items:center;gap:8px;padding:8px 8px 8px 16px}
.header{border-bottom:1px solid var(--line)}
.footer{border-top:1px solid var(--line);font-size:14px;color:var(--dim);flex-wrap:wrap;padding-block:4px}
h2{font-size:17px;font-weight:650;flex:1;outline-offset:4px;border-radius:4px}
.plain.close{color:var(--dim)}
.body,.sign-in{flex:1;overflow-y:auto;overscroll-behavior:contain;padding:12px 16px}
.note{color:var(--dim);padding-bottom:12px}
.new{padding-bottom:4px;display:grid;gap:8px}
.new .main{justify-self:start}
.section{padding-top:16px}
h3,summary{font-size:13px;font-weight:600;color:var(--dim);padding-block:2px 6px}
summary{cursor:pointer;border-radius:4px}
.count{font-weight:400}
.thread{border:1px solid var(--line);border-radius:10px;padding:12px;margin-bottom:10px;background:var(--paper)}
.thread.current{border-color:var(--mark);box-shadow:0 0 0 1px var(--mark)}
.about{display:grid;gap:4px}
.about:not(:empty){padding-bottom:10px}
.about a{color:var(--main);overflow-wrap:anywhere}
.about small,.head small,time{color:var(--dim);font-size:13px}
.quote{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden;width:100%;text-align:start;background:none;border:0;border-inline-start:3px solid var(--mark);border-radius:0;padding:0 0 0 10px;min-height:0;color:var(--dim);font-size:14px;overflow-wrap:anywhere}
button.quote:hover{background:none;color:var(--ink)}
.comment.reply{margin:10px 0 0 6px;padding-inline-start:12px;border-inline-start:2px solid var(--line)}
.head{display:flex;flex-wrap:wrap;align-items:center;gap:2px 8px}
.head b{font-weight:600;overflow-wrap:anywhere;min-width:0}
.face{width:26px;height:26px;border-radius:50%;display:grid;place-items:center;color:#fff;font-size:13px;font-weight:600;background:#3d5a80}
[data-tint="1"]{background:#7a4b8c}[data-tint="2"]{background:#28705a}[data-tint="3"]{background:#97482b}[data-tint="4"]{background:#8a2f5a}[data-tint="5"]{background:#56631f}
.tag{font-size:12px;line-height:18px;padding:0 7px;border-radius:9px;background:var(--soft);color:var(--dim)}
.tag.fresh{background:var(--main);color:var(--on-main)}
.text{white-space:pre-wrap;overflow-wrap:anywhere;padding-top:4px}
.row{display:flex;flex-wrap:wrap;align-items:center;gap:6px}
.row.end{justify-content:flex-end}
.comment>.row{padding-top:6px;font-size:14px}
.foot{margin:4px 0 -6px -8px}
.foot .composer{margin:6px 0 6px 8px}
.chip{display:inline-flex;align-items:center;border:1px solid var(--line);border-radius:16px;padding:2px 9px;min-height:28px;font-size:14px;background:none}
.chip[aria-pressed=true]{background:var(--tint);border-color:var(--main)}
.chip.add{color:var(--dim);padding:2px 6px}
.chip svg{width:18px;height:18px;stroke-width:1.8}
.composer{display:grid;gap:8px}
.composer label{display:grid;gap:3px;font-size:13px;font-weight:600;color:var(--dim)}
.composer label[hidden]{display:none}
input,textarea{width:100%;background:var(--paper);border:1px solid #868d98;border-radius:8px;padding:7px 10px;color:var(--ink);font-weight:400;font-size:16px}
textarea{resize:vertical;min-height:76px;display:block}
::placeholder{color:var(--dim);opacity:1}
.problem{color:var(--danger);font-size:14px}
.problem:empty{display:none}
.keys{padding-top:16px}
dl{display:grid;grid-template-columns:auto 1fr;gap:4px 12px;font-size:13px;color:var(--dim)}
dt{font-weight:600;white-space:nowrap}
.toast{position:absolute;inset-inline:16px;bottom:76px;margin:auto;width:fit-content;max-width:440px;background:var(--ink);color:var(--paper);border-radius:10px;padding:10px 16px;box-shadow:0 4px 16px rgb(0 0 0/.28)}
@media(max-width:640px){
.panel{inset:auto 0 0;width:auto;height:min(86vh,720px);border-radius:16px 16px 0 0;border-width:1px 0 0;padding-bottom:env(safe-area-inset-bottom)}
}
@media(prefers-reduced-motion:no-preference){
.panel:not([hidden]){animation:come .18s ease-out}
.thread{transition:border-color .2s,box-shadow .2s}
@keyframes come{from{opacity:0;transform:translateY(10px)}}
}
@media(forced-colors:active){button,.tag,.face{border:1px solid}.thread.current{outline:2px solid}}
`;
