// the search in a job's output: found lines are buttons, and each shows the output around it
import { askJSON } from "./ask.js";

const form = document.getElementById("log-search");
const list = document.getElementById("log-found");
const more = document.getElementById("log-more");
const said = document.getElementById("log-said");
const around = document.getElementById("log-around");
const BEFORE = 4000; // bytes
const MAX_SHOWN = 1000; // lines
let asked = null; // {find, attempt, next}

const address = (query) => `/api/v1/jobs/${form.dataset.job}/log?${new URLSearchParams(query)}`;
const ofAttempt = ({ attempt }) => (attempt ? { attempt } : {}); // else of the newest one

async function show(at) {
  const begin = Math.max(at - BEFORE, 0);
  const attempt = ofAttempt(asked);
  try {
    const [before, after] = await Promise.all([
      at > begin ? askJSON(address({ ...attempt, offset: begin, size: at - begin })) : { text: "" },
      askJSON(address({ ...attempt, offset: at, size: 4 * BEFORE })),
    ]);
    const [line, ...rest] = after.text.split("\n");
    const mark = document.createElement("mark");
    mark.textContent = line;
    // the first line is only whole at the beginning of the output
    const whole = begin ? before.text.slice(before.text.indexOf("\n") + 1) : before.text;
    around.replaceChildren(whole, mark, `\n${rest.join("\n")}`);
    around.hidden = false;
    around.scrollTop += mark.getBoundingClientRect().top - around.getBoundingClientRect().top - around.clientHeight / 3;
    around.focus({ preventScroll: true });
    around.scrollIntoView({ block: "nearest" });
  } catch (error) {
    said.textContent = `The output could not be read: ${error.message}`;
  }
}

function rowOf({ offset, text }) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = text.trim();
  button.addEventListener("click", () => show(offset));
  const row = document.createElement("li");
  row.append(button);
  return row;
}

async function search() {
  const mine = asked;
  said.textContent = "Searching …";
  more.hidden = true;
  try {
    let found = { lines: [], next: mine.next };
    // an answer may have no line and more to look through, as each ends after a second
    while (!found.lines.length && found.next !== null) {
      found = await askJSON(address({ find: mine.find, ...ofAttempt(mine), offset: found.next }));
      if (mine !== asked) return;
      mine.attempt = found.attempt;
    }
    mine.next = found.next;
    const first = list.childElementCount;
    list.append(...found.lines.map(rowOf));
    const n = list.childElementCount;
    const isAll = mine.next === null;
    said.textContent = n ? `${isAll ? "" : "The first "}${n} line${n === 1 ? "" : "s"} with “${mine.find}”` : `No line has “${mine.find}”.`;
    more.hidden = isAll || n >= MAX_SHOWN;
    if (first) list.children[first]?.querySelector("button").focus();
  } catch (error) {
    if (mine === asked) said.textContent = `The output could not be searched: ${error.message}`;
  }
}

form.hidden = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const find = form.elements.find.value;
  list.replaceChildren();
  around.hidden = true;
  more.hidden = true;
  said.textContent = "";
  asked = find ? { find, attempt: form.elements.attempt.value, next: 0 } : null;
  if (asked) search();
});
more.addEventListener("click", search);
