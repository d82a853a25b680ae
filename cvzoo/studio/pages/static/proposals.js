// of the editor: what a model proposes, drawn dashed, until it is accepted or refused
import { askJSON } from "./ask.js";
import { area, maskHas, polygonsHave } from "./shapes.js";

const byId = (id) => document.getElementById(id);
const scoreOf = (each) => each.extra.score;

// page: of the editor; view, objects: functions; accepted: called with what the server has accepted; tell: what went wrong
export function attachProposals({ page, journal, view, objects, accepted, tell }) {
  const box = byId("proposals");
  if (!box) return { show() {}, chooseAt: () => false };
  let left = page.proposed;
  let chosen = null;
  let isAsking = false; // a second press would ask for the same again
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

  /** Chooses the smallest proposal at a point of the image; whether there is one. isLess: of its box, whether it may be */
  function chooseAt(x, y, isLess) {
    const found = open().filter((each) => each.box && isLess(each.box) && isAt(each, x, y));
    found.sort((a, b) => area(a.box) - area(b.box));
    if (found.length) choose(found[0].id);
    return found.length > 0;
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

  // what the server is asked of the proposals
  const judge = (verb, ids) => askJSON(`/api/v1/datasets/${page.dataset}:${verb}`, { method: "POST", tree: { ordinals: [page.item.ordinal], objects: ids } });

  // a revision of its own, which names the model, and not an edit
  async function accept() {
    const found = page.task === "boxes" ? wanted() : wanted().slice(0, 1);
    if (page.isReadOnly || isAsking || !found.length) return;
    isAsking = true;
    try {
      await journal.change(async () => {
        const before = objects();
        await judge("accept", found.map((each) => each.id));
        const after = await askJSON(`/api/v1/datasets/${page.dataset}/images/${page.item.ordinal}`);
        if (!after.labels.some((each) => each.id === found[0].id)) throw new Error(`the data set does not have ${found[0].class} any more`);
        const ids = (page.task === "boxes" ? [...before, ...found] : found).map((each) => each.id);
        chosen = null;
        accepted(before, after.labels, found.at(-1).id);
        return { base: after.first_rev, isPlain: ids.join() === after.labels.map((each) => each.id).join() };
      });
    } catch (error) {
      tell(`not accepted: ${error.message}`);
    }
    isAsking = false;
    show();
  }

  async function refuse() {
    const ids = wanted().map((each) => each.id);
    if (page.isReadOnly || isAsking || !ids.length) return;
    if (ids.length > 1 && !confirm(`Refuse ${ids.length} proposals? They are not shown any more.`)) return;
    isAsking = true;
    try {
      await judge("refuse", ids);
      left = left.filter((each) => !ids.includes(each.id));
    } catch (error) {
      tell(`not refused: ${error.message}`);
    }
    isAsking = false;
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
  return { show, chooseAt };
}

function isAt(each, x, y) {
  const [y0, x0, y1, x1] = each.box;
  if (x < x0 || x > x1 || y < y0 || y > y1) return false;
  if (each.polygons?.length) return polygonsHave(each.polygons, x, y);
  return each.rle ? maskHas(each.rle, x, y) : true;
}
