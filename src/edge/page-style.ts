/** The style sheet of our own pages, on the tokens of `tokens.ts`; targets are 44 px high. */
import { BANNER_STYLE } from './site-banner.ts';
import { TOKENS_STYLE } from './tokens.ts';

export const PAGES_STYLE = `${TOKENS_STYLE}*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 var(--sans); overflow-wrap: break-word; }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.25rem 1rem; max-width: 60rem; margin: 0 auto; padding: 0.75rem 1.25rem; }
header nav { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1rem; max-width: 100%; }
header nav a { overflow-wrap: anywhere; }
header a, header .plain { display: inline-flex; align-items: center; min-height: var(--target); }
.brand { font-weight: 700; font-size: 1.125rem; color: var(--ink); text-decoration: none; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; padding: 0.5rem 0.75rem; background: var(--card); z-index: 1; }
main { max-width: 27rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
main.wide { max-width: 60rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 0.75rem; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 2.25rem 0 0.5rem; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
.soft { color: var(--soft); }
.small { font-size: 0.875rem; }
form { margin: 0; }
.card { margin: 0 0 1.25rem; padding: 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: var(--round-l); box-shadow: var(--lift-1); }
.card > :first-child { margin-top: 0; }
.card > :last-child { margin-bottom: 0; }
.preview { display: block; max-width: 100%; max-height: 70vh; border-radius: var(--round-l); }
audio.preview { width: 100%; }
.wide form.card { max-width: 40rem; }
label { display: block; margin: 0 0 0.25rem; font-weight: 600; }
.note { margin: -0.5rem 0 1rem; color: var(--soft); font-size: 0.875rem; }
input:not([type='checkbox'], [type='hidden']), textarea { display: block; width: 100%; min-height: var(--target); margin: 0 0 1rem; padding: 0.5rem 0.75rem; border: 1px solid var(--edge); border-radius: var(--round-m); background: var(--paper); color: var(--ink); font: inherit; }
textarea { line-height: 1.4; resize: vertical; }
input.code { font: 600 1.25rem/1.4 var(--mono); letter-spacing: 0.1em; text-transform: uppercase; }
input.digits { font: 600 1.25rem/1.4 var(--mono); letter-spacing: 0.2em; }
input[aria-invalid='true'] { border-color: var(--bad); border-width: 2px; }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: var(--target); padding: 0.5rem 1.1rem; border: 1px solid var(--accent); border-radius: var(--round-m); background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
button.second, .button.second { background: transparent; color: var(--ink); border-color: var(--edge); }
button.plain { padding: 0; border: 0; background: none; color: var(--accent); font-weight: 400; text-decoration: underline; }
button.block, .button.block { width: 100%; margin-bottom: 0.75rem; }
button, .button { transition: background var(--quick), border-color var(--quick); }
button:hover, .button:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
button.second:hover, .button.second:hover { background: var(--hover); border-color: var(--edge); }
button.plain:hover { background: none; color: var(--accent-hover); }
button:disabled { opacity: 0.6; cursor: default; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; }
.notice { padding: 0.75rem 1rem; border-radius: var(--round-m); border-left: 4px solid currentcolor; }
.notice.bad { color: var(--bad); background: var(--bad-paper); }
.notice.good { color: var(--good); background: var(--good-paper); }
.or { display: flex; align-items: center; gap: 0.75rem; margin: 1.25rem 0; color: var(--soft); font-size: 0.875rem; }
.or::before, .or::after { content: ''; flex: 1; border-top: 1px solid var(--line); }
.usercode { margin: 0 0 1rem; padding: 0.75rem; border-radius: var(--round-m); background: var(--code); font: 700 1.75rem/1.3 var(--mono); letter-spacing: 0.08em; text-align: center; }
code, .token { font-family: var(--mono); }
.token { display: block; margin: 0 0 1rem; padding: 0.75rem; border: 1px solid var(--line); border-radius: var(--round-m); background: var(--code); overflow-wrap: anywhere; user-select: all; }
blockquote { margin: 0 0 1rem; padding-left: 0.9rem; border-left: 3px solid var(--edge); white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.35rem 1rem; margin: 0 0 1rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
ul.list { list-style: none; margin: 0 0 1rem; padding: 0; border-top: 1px solid var(--line); }
ul.list li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1rem; padding: 0.65rem 0; border-bottom: 1px solid var(--line); }
ul.list li > :first-child { flex: 1 1 14rem; min-width: 0; overflow-wrap: anywhere; }
ul.list li > .state { flex: none; font-weight: 600; }
.state.up { color: var(--good); }
.state.delayed, .state.down { color: var(--bad); }
.state.unknown { color: var(--soft); }
.scroll { overflow-x: auto; margin: 0 0 1rem; }
table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
th, td { padding: 0.5rem 0.75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
tbody th { font-weight: 400; min-width: 12rem; }
thead th { border-bottom-color: var(--edge); white-space: nowrap; }
.tag { display: inline-block; padding: 0.05rem 0.5rem; border-radius: 1rem; background: var(--code); font-size: 0.8125rem; }
details { margin: 0 0 1rem; }
summary { min-height: var(--target); display: flex; align-items: center; cursor: pointer; color: var(--accent); text-decoration: underline; }
.mail { width: 100%; height: 36rem; border: 1px solid var(--edge); border-radius: var(--round-m); background: #fff; }
pre.text { margin: 0; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: 0.9375rem/1.5 var(--mono); }
.inline input:not([type='hidden']), .inline p { margin-bottom: 0; }
.inline { display: grid; gap: 0 0.75rem; grid-template-columns: minmax(0, 1fr) auto; align-items: end; }
[hidden] { display: none !important; }
${BANNER_STYLE}@media (max-width: 30rem) { .inline { grid-template-columns: minmax(0, 1fr); gap: 0.75rem; } dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { margin-bottom: 0.6rem; } }
`;

/** More for the start page of visitors. */
export const HOME_STYLE = `.home header, .home main { max-width: 68rem; padding-left: 1.5rem; padding-right: 1.5rem; }
.home .brand { gap: 0.6rem; }
.home .button { color: var(--on-accent); }
.home .button.second { color: var(--ink); }
.hero { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 24rem); gap: 2rem 4rem; align-items: center; padding: clamp(1.5rem, 6vw, 4rem) 0 clamp(2rem, 5vw, 3.5rem); }
.hero-art { width: 100%; height: auto; }
:root[data-theme='dark'] .hero-art { filter: brightness(0.86); }
@media (max-width: 52rem) { .hero { grid-template-columns: minmax(0, 1fr); } .hero-art { max-width: 19rem; justify-self: center; } }
.hero h1 { font: 500 clamp(2.4rem, 7vw, 4.25rem)/1.05 var(--serif); letter-spacing: -0.02em; margin-bottom: 1.25rem; }
.lead { font-size: 1.2rem; line-height: 1.55; color: var(--soft); margin-bottom: 1.75rem; }
.steps { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); padding-top: 1rem; }
.step { padding: 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: var(--round-l); box-shadow: var(--lift-1); min-width: 0; }
.step h2 { margin: 0 0 0.75rem; font-size: 1rem; }
.step p { margin: 0; color: var(--soft); font-size: 0.9375rem; }
.step pre { margin: 0 0 0.75rem; padding: 0.75rem 0.9rem; overflow-x: auto; background: var(--code); border-radius: var(--round-m); font: 0.8125rem/1.6 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
.home footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.875rem; }
@media (max-width: 30rem) { .home header nav { gap: 0.25rem 0.75rem; } .hero .button { width: 100%; } }
`;
