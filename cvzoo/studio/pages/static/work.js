// stage, assignee and tags of the image in the editor: each change is saved at once, as one of several images is
import { askJSON } from "./ask.js";

const byId = (id) => document.getElementById(id);
const work = byId("work");
const told = byId("work-told");
const tagsOf = (text) => [...new Set(text.split(",").map((tag) => tag.trim()).filter(Boolean))];
let tags = tagsOf(byId("tags").value);

async function change(what) {
  told.textContent = "saving";
  try {
    const tree = { ordinals: [Number(work.dataset.ordinal)], ...what };
    await askJSON(`/api/v1/datasets/${work.dataset.dataset}/images`, { method: "PATCH", tree });
  } catch (error) {
    told.textContent = `not saved: ${error.message}`;
    return false;
  }
  told.textContent = "saved";
  return true;
}

byId("stage").addEventListener("change", () => change({ stage: byId("stage").value }));
byId("assignee").addEventListener("change", () => change({ assignee: byId("assignee").value }));
byId("tags").addEventListener("change", async () => {
  const after = tagsOf(byId("tags").value);
  const more = after.filter((tag) => !tags.includes(tag));
  const fewer = tags.filter((tag) => !after.includes(tag));
  if (!more.length && !fewer.length) return;
  if (await change({ ...(more.length && { add_tags: more }), ...(fewer.length && { remove_tags: fewer }) })) tags = after;
});
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
  if (event.key === "m") byId("mine")?.click();
  else if (event.key === "d" && !byId("stage").disabled) {
    byId("stage").value = byId("stage").value === "done" ? "todo" : "done";
    change({ stage: byId("stage").value });
  } else return;
  event.preventDefault();
});
