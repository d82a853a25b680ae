// of the editor: what a model proposes, drawn dashed, until it is accepted or refused
const byId = (id) => document.getElementById(id);
const scoreOf = (each) => each.extra.score;

// page: of the editor; view, objects: functions; change: the editor's, which saves; tell: what went wrong
export function attachProposals({ page, view, objects, change, tell }) {
  const box = byId("proposals");
  if (!box) return { show() {} };
  let left = page.proposed;
  let chosen = null;
  const above = byId("above");
  const unjudged = () => left.filter((each) => !objects().some(({ id }) => id === each.id));
  const open = () => unjudged().filter((each) => scoreOf(each) >= Number(above.value));
  const wanted = () => open().filter((each) => chosen === null || each.id === chosen);

  function show() {
    const found = open();
    box.hidden = !unjudged().length;
    if (!found.some((each) => each.id === chosen)) chosen = null;
    byId("n-proposed").textContent = `${found.length} proposal${found.length === 1 ? "" : "s"} from this score on`;
    byId("proposed").replaceChildren(...found.map(row));
    byId("accept").textContent = chosen ? "Accept it" : "Accept all";
    byId("refuse").textContent = chosen ? "Refuse it" : "Refuse all";
    for (const id of ["accept", "refuse"]) byId(id).disabled = page.isReadOnly || !found.length;
    const canvas = view();
    if (!canvas) return;
    Object.assign(canvas, { proposals: found, chosen });
    canvas.draw();
  }

  function row(each) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.id = each.id;
    button.textContent = `${each.class} ${scoreOf(each).toFixed(2)}`;
    button.setAttribute("aria-pressed", String(each.id === chosen));
    button.onclick = () => choose(each.id === chosen ? null : each.id, true);
    const item = document.createElement("li");
    item.append(button);
    return item;
  }

  function choose(id, hasFocus = false) {
    chosen = id;
    const each = left.find((one) => one.id === id);
    if (each?.box) view()?.show(each.box);
    show();
    if (hasFocus) byId("proposed").querySelector(`[data-id="${id ?? each?.id}"]`)?.focus();
  }

  function walk() {
    const ids = open().map((each) => each.id);
    if (ids.length) choose(ids[(ids.indexOf(chosen) + 1) % ids.length]);
  }

  function accept() {
    const found = page.task === "boxes" ? wanted() : wanted().slice(0, 1);
    if (page.isReadOnly || !found.length) return;
    chosen = null;
    change(page.task === "boxes" ? [...objects(), ...found] : found, found.at(-1).id);
  }

  async function refuse() {
    const ids = wanted().map((each) => each.id);
    if (page.isReadOnly || !ids.length) return;
    if (ids.length > 1 && !confirm(`Refuse ${ids.length} proposals? They are not shown any more.`)) return;
    const body = JSON.stringify({ ordinals: [page.item.ordinal], objects: ids });
    const path = `/api/v1/datasets/${page.dataset}:refuse`;
    const answer = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body }).catch(() => null);
    if (answer?.ok) left = left.filter((each) => !ids.includes(each.id));
    else tell("the proposals could not be refused: the server does not answer");
    show();
  }

  above.addEventListener("input", show);
  byId("accept").addEventListener("click", accept);
  byId("refuse").addEventListener("click", refuse);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
    const act = { a: accept, x: refuse, f: walk }[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
  return { show };
}
