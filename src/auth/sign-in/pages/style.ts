/** The one style sheet of the pages; the content security policy allows it by its hash. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f3f5f9; --card: #ffffff; --ink: #17212f; --soft: #55627a; --line: #d8deea;
  --brand: #1f4fd8; --brand-ink: #ffffff; --wash: #eef3ff; --bad: #a3222f; --bad-wash: #fdeeef; --good: #17693f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e141f; --card: #182131; --ink: #e8edf6; --soft: #a3b0c6; --line: #2d3a50;
    --brand: #8fb0ff; --brand-ink: #0c1524; --wash: #1d2a44; --bad: #ff9aa4; --bad-wash: #3a1c22; --good: #7fd6a6;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center;
  background: var(--ground); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
header { width: 100%; max-width: 34rem; padding: 2rem 1.25rem 1rem; display: flex; align-items: center; gap: .7rem; }
header svg { width: 1.9rem; height: 1.9rem; color: var(--brand); }
header span { font-weight: 650; font-size: 1.1rem; letter-spacing: .01em; }
main {
  width: calc(100% - 2rem); max-width: 34rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 16px; padding: 2rem; box-shadow: 0 12px 32px rgb(15 30 60 / .07);
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.75rem 0 .5rem; }
p { margin: .5rem 0; }
.soft { color: var(--soft); font-size: .93rem; overflow-wrap: anywhere; }
.who { display: flex; align-items: center; gap: .75rem; margin: 1.25rem 0 0; padding: .75rem 1rem; background: var(--wash); border-radius: 12px; }
.who b { display: block; }
.badge {
  flex: none; width: 2.4rem; height: 2.4rem; border-radius: 50%; display: grid; place-items: center;
  background: var(--brand); color: var(--brand-ink); font-weight: 650; text-transform: uppercase;
}
ul.rights { list-style: none; margin: .5rem 0 0; padding: 0; }
ul.rights li { padding: .5rem 0 .5rem 1.8rem; border-bottom: 1px solid var(--line); position: relative; }
ul.rights li:last-child { border-bottom: 0; }
ul.rights li::before { content: "\\2713"; position: absolute; left: .2rem; color: var(--good); font-weight: 700; }
fieldset { border: 0; padding: 0; margin: 1.5rem 0 0; min-width: 0; }
legend, label.field { font-weight: 600; padding: 0; margin-bottom: .4rem; display: block; }
.choice {
  display: flex; gap: .75rem; align-items: flex-start; padding: .7rem .9rem; margin-top: .5rem; min-height: 3rem;
  border: 1px solid var(--line); border-radius: 10px; cursor: pointer;
}
.choice:hover { border-color: var(--brand); }
.choice:has(input:checked) { border-color: var(--brand); background: var(--wash); }
.choice input { width: 1.15rem; height: 1.15rem; margin: .2rem 0 0; accent-color: var(--brand); flex: none; }
.choice small { display: block; color: var(--soft); font-size: .87rem; }
input[type=text] {
  width: 100%; padding: .8rem 1rem; border: 1px solid var(--soft); border-radius: 10px; background: var(--card);
  color: var(--ink); font: 600 1.35rem/1.2 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace;
  letter-spacing: .12em; text-transform: uppercase;
}
.code { font: 650 1.5rem/1.2 ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; letter-spacing: .12em; margin: 1rem 0; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.75rem; }
button, .button {
  flex: 1 1 9rem; min-height: 3rem; padding: .7rem 1.2rem; border-radius: 10px; border: 1px solid var(--brand);
  background: var(--brand); color: var(--brand-ink); font: inherit; font-weight: 600; line-height: 1.2;
  text-align: center; text-decoration: none; cursor: pointer;
}
button.plain { background: transparent; color: var(--ink); border-color: var(--line); }
button:hover { filter: brightness(1.06); }
button.small { flex: none; min-height: 2.4rem; padding: .4rem .9rem; font-size: .93rem; }
:focus-visible { outline: 3px solid var(--brand); outline-offset: 2px; }
.note { padding: .75rem 1rem; border-radius: 10px; background: var(--bad-wash); color: var(--bad); margin: 1rem 0 0; }
.stack > * + * { margin-top: .75rem; }
.stack form { display: flex; }
ul.apps { list-style: none; margin: 1.25rem 0 0; padding: 0; }
ul.apps li { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; justify-content: space-between; padding: 1rem 0; border-top: 1px solid var(--line); }
ul.apps div { flex: 1 1 14rem; min-width: 0; }
a { color: var(--brand); }
footer { padding: 1.25rem; color: var(--soft); font-size: .87rem; }
@media (max-width: 30rem) { main { padding: 1.4rem 1.2rem; border-radius: 14px; } header { padding-top: 1.25rem; } }
@media (prefers-reduced-motion: no-preference) { .choice, button { transition: border-color .12s, background .12s, filter .12s; } }
`;
