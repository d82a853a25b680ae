// the page of a model of the zoo whose weights are downloaded: how far that is
import { askJSON } from "./ask.js";

const shown = document.getElementById("fetch");
const bar = shown.querySelector("progress");
const told = document.getElementById("fetch-told");
const MB = (n) => (n / 1e6).toFixed(1);

async function look() {
  const { fetch } = await askJSON(shown.dataset.address).catch(() => ({}));
  // null: the server was started again since, and does not know of it any more
  if (fetch === null || fetch?.ended_at) return location.reload();
  if (fetch?.total) bar.value = fetch.done / fetch.total;
  if (fetch?.done) told.textContent = fetch.total ? `${MB(fetch.done)} of ${MB(fetch.total)} MB` : `${MB(fetch.done)} MB`;
  setTimeout(look, 1000);
}

look();
