// a model's file is uploaded in parts, and becomes a model when it could be loaded
import { ask, askJSON } from "./ask.js";

const CHUNK = 8 << 20;
const form = document.getElementById("upload-model");
const told = document.getElementById("upload-told");
const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

async function upload(file) {
  const tus = { "tus-resumable": "1.0.0" };
  const headers = { ...tus, "upload-length": String(file.size), "upload-metadata": `name ${base64(file.name)}` };
  const address = (await ask("/api/v1/uploads", { method: "POST", headers })).headers.get("location");
  for (let offset = 0; offset < file.size; offset += CHUNK) {
    told.textContent = `${Math.round((100 * offset) / file.size)} % sent`;
    const part = { ...tus, "upload-offset": String(offset), "content-type": "application/offset+octet-stream" };
    await ask(address, { method: "PATCH", headers: part, body: file.slice(offset, offset + CHUNK) });
  }
  return address.split("/").at(-1);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const id = await upload(document.getElementById("model-file").files[0]);
    told.textContent = "Sent; it is loaded once.";
    const tree = { name: document.getElementById("model-name").value.trim(), upload: id };
    const made = await askJSON("/api/v1/models", { method: "POST", tree });
    location.assign(`/models/${made.key}`);
  } catch (error) {
    told.textContent = error.message;
    button.disabled = false;
  }
});
document.getElementById("model-file").addEventListener("change", (event) => {
  const name = document.getElementById("model-name");
  if (!name.value) name.value = event.target.files[0]?.name.replace(/\.safetensors$/i, "") ?? "";
});
