// of the editor: the brightness of the image, the objects of the image before, and the deletion of the image
import { askJSON } from "./ask.js";
import { clamp } from "./shapes.js";

const newId = () => [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// the objects of another image as this one can have them: inside of it, masks only in an image of the same size
export function copied(objects, from, to) {
  const isSame = from.height === to.height && from.width === to.width;
  const found = [];
  for (const each of objects) {
    const after = { id: newId(), class: each.class };
    if (each.box) {
      const [y0, x0, y1, x1] = each.box;
      after.box = [clamp(y0, 0, to.height), clamp(x0, 0, to.width), clamp(y1, 0, to.height), clamp(x1, 0, to.width)];
      if (after.box[2] <= after.box[0] || after.box[3] <= after.box[1]) continue;
    }
    if (each.rle && isSame) after.rle = each.rle;
    if (each.polygons && String(after.box) === String(each.box)) after.polygons = each.polygons; // what is cut off is no polygon of it
    if (each.points && isSame) after.points = each.points;
    if (each.extra?.text) after.extra = { text: each.extra.text };
    found.push(after);
  }
  return found;
}

// page, item: of the editor; view: a function; add: called with objects; tell: with what went wrong
export function attachTools({ page, item, view, add, tell }) {
  const deletion = document.getElementById("delete-image");
  deletion.disabled = page.isReadOnly;
  deletion.addEventListener("click", async () => {
    if (!confirm("Delete the image from the data set? This can be reverted in its history.")) return;
    try {
      await askJSON(`/api/v1/datasets/${page.dataset}/images`, { method: "PATCH", tree: { ordinals: [item.ordinal], delete: true } });
      location.assign((document.getElementById("after") ?? document.getElementById("to-grid")).href);
    } catch (error) {
      tell(`the image was not deleted: ${error.message}`);
    }
  });
  const brightness = document.getElementById("brightness");
  brightness?.addEventListener("input", () => view()?.setBrightness(Number(brightness.value)));
  const button = document.getElementById("copy-before");
  if (!button) return;
  button.disabled = page.isReadOnly || page.before === null;
  const copy = async () => {
    if (button.disabled) return;
    let other;
    try {
      other = await askJSON(`/api/v1/datasets/${page.dataset}/images/${page.before}`);
    } catch (error) {
      tell(`the image before could not be read: ${error.message}`);
      return;
    }
    const objects = copied(other.labels, other, item).filter((each) => page.classes.includes(each.class));
    if (objects.length) add(objects);
    else tell("the image before has no objects");
  };
  button.addEventListener("click", copy);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "c" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    copy();
  });
}
