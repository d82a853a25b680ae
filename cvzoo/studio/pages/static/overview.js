// the plots of a data set, which come after the page, and again with the anchors of another detector
import { ask } from "./ask.js";

const part = document.getElementById("overview");

async function load(anchors = "") {
  part.setAttribute("aria-busy", "true");
  try {
    const response = await ask(`${part.dataset.path}?${new URLSearchParams({ anchors })}`, { headers: { accept: "text/html" } });
    part.innerHTML = await response.text();
    const choice = part.querySelector("#anchors");
    choice?.addEventListener("change", () => load(choice.value));
    if (anchors) choice?.focus(); // it is another element now
  } catch (error) {
    const note = document.createElement("p");
    note.className = "error";
    note.setAttribute("role", "alert");
    note.textContent = `The sizes could not be read: ${error.message}`;
    part.querySelector(".error")?.remove();
    part.querySelector("h2").after(note);
  }
  part.setAttribute("aria-busy", "false");
}

load();
