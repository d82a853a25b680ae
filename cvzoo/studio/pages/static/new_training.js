// another recipe has other settings: they are shown as soon as it is chosen
document.getElementById("recipe").addEventListener("change", (event) => event.target.form.submit());
document.getElementById("version")?.addEventListener("change", (event) => {
  document.getElementById("data").value = event.target.value;
});
const shown = document.querySelector("[aria-invalid=true]") ?? document.getElementById("result");
if (shown) shown.focus();

// a second click while the data are checked would start a second training
const form = document.getElementById("settings");
const WORDS = { preview: "The first images are read …", try: "20 iterations are run; this may take minutes …", save: "The draft is saved …" };
form?.addEventListener("submit", (event) => {
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "1";
  for (const button of form.querySelectorAll(".actions button")) button.setAttribute("aria-disabled", "true");
  document.getElementById("wait").textContent = WORDS[event.submitter?.value] ?? "The data are read and the values checked …";
});
window.addEventListener("pageshow", () => {
  if (!form) return;
  delete form.dataset.sent;
  for (const button of form.querySelectorAll(".actions button")) button.removeAttribute("aria-disabled");
});

document.getElementById("suggested")?.addEventListener("click", (event) => {
  for (const [name, value] of Object.entries(JSON.parse(event.target.dataset.settings))) {
    const field = form.elements[`set:${name}`];
    field.value = value;
    field.closest("details").open = true;
  }
  document.getElementById("wait").textContent = "The settings are in the form; see them by another preview, or train.";
});
