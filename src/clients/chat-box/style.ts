/** Styles of the chat box, beside those of its host element. A page sets its colours by the custom properties `--easel-chat-…` of its root element. */
export const STYLE = `
.all{--paper:var(--easel-chat-paper,#fff);--soft:var(--easel-chat-soft,#f1f3f6);--ink:var(--easel-chat-ink,#1c1e21);--dim:var(--easel-chat-dim,#5a6069);--line:var(--easel-chat-line,#d9dce1);--main:var(--easel-chat-accent,#1d4fc4);--on-main:var(--easel-chat-on-accent,#fff);--danger:#b3261e;color-scheme:light;color:var(--ink);font:15px/1.45 var(--easel-chat-font,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif);text-align:start}
@media(prefers-color-scheme:dark){.all{--paper:var(--easel-chat-paper,#1b1d21);--soft:var(--easel-chat-soft,#2a2e35);--ink:var(--easel-chat-ink,#eceef1);--dim:var(--easel-chat-dim,#a8afba);--line:var(--easel-chat-line,#3b4049);--main:var(--easel-chat-accent,#8fb2ff);--on-main:var(--easel-chat-on-accent,#0c1d45);--danger:#ff9a91;color-scheme:dark}}
h2,p,ol{margin:0;padding:0}
ol{list-style:none}
button,input,textarea{font:inherit;color:inherit;margin:0}
button{cursor:pointer;border:1px solid transparent;border-radius:8px;padding:6px 14px;min-height:40px;background:none}
button[aria-disabled=true]{opacity:.55;cursor:progress}
:focus-visible{outline:3px solid var(--main);outline-offset:2px}
svg{width:22px;height:22px;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round;display:block}
.launcher{position:absolute;inset-inline-end:max(16px,env(safe-area-inset-right));bottom:max(16px,env(safe-area-inset-bottom));display:grid;place-items:center;width:52px;height:52px;padding:0;border-radius:50%;background:var(--main);color:var(--on-main);border:1px solid var(--paper);box-shadow:0 4px 16px rgb(0 0 0/.28)}
.launcher:hover,.send:hover{filter:brightness(1.08)}
.beside .launcher{inset-inline-end:calc(max(16px,env(safe-area-inset-right)) + 64px)}
.launcher b{position:absolute;top:-5px;inset-inline-end:-5px;min-width:22px;padding:0 6px;border-radius:11px;background:#b3261e;color:#fff;font-size:13px;line-height:22px;text-align:center}
.panel{position:absolute;inset-inline-end:16px;bottom:84px;width:360px;max-width:calc(100vw - 32px);height:min(560px,calc(100vh - 108px));display:flex;flex-direction:column;background:var(--paper);border:1px solid var(--line);border-radius:14px;box-shadow:0 12px 40px rgb(0 0 0/.28);overflow:hidden}
.header{display:flex;align-items:center;gap:8px;padding:6px 6px 6px 16px;border-bottom:1px solid var(--line)}
h2{flex:1;font-size:17px;font-weight:650}
.close{padding:8px;color:var(--dim)}
.body{flex:1;overflow-y:auto;overscroll-behavior:contain;padding:14px 16px;display:grid;align-content:start;gap:12px}
.greeting{white-space:pre-line;overflow-wrap:anywhere}
ol{display:grid;gap:10px}
li{max-width:85%;width:fit-content;justify-self:start}
li.mine{justify-self:end}
.who{font-size:13px;color:var(--dim);padding:0 4px}
.mine .who{text-align:end}
.text{padding:8px 12px;border-radius:14px;background:var(--soft);white-space:pre-wrap;overflow-wrap:anywhere}
.mine .text{background:var(--main);color:var(--on-main)}
.system{justify-self:center;max-width:100%}
.system .text{background:none;color:var(--dim);font-size:14px;text-align:center}
.note{color:var(--dim);font-size:14px;padding:0 16px 10px}
.body:focus-visible{outline-offset:-3px}
.note:empty,.problem:empty{display:none}
form,.about{display:grid;gap:8px}
form{padding:12px 16px calc(12px + env(safe-area-inset-bottom));border-top:1px solid var(--line)}
label{display:grid;gap:3px;font-size:13px;font-weight:600;color:var(--dim)}
input,textarea{width:100%;background:var(--paper);border:1px solid #868d98;border-radius:8px;padding:7px 10px;color:var(--ink);font-weight:400;font-size:16px}
textarea{resize:none;display:block;min-height:60px;max-height:160px}
.foot{display:flex;align-items:center;gap:8px;justify-content:space-between}
.hint{font-size:12px;color:var(--dim)}
.send{background:var(--main);color:var(--on-main);font-weight:600}
.problem{color:var(--danger);font-size:14px}
@media(max-width:640px){
.panel{inset:auto 0 0;width:auto;max-width:none;height:min(86vh,720px);border-radius:16px 16px 0 0;border-width:1px 0 0}
.hint{display:none}
.foot{justify-content:flex-end}
}
@media(prefers-reduced-motion:no-preference){
.panel:not([hidden]){animation:come .18s ease-out}
@keyframes come{from{opacity:0;transform:translateY(10px)}}
}
@media(forced-colors:active){button,.text{border:1px solid}}
`;
