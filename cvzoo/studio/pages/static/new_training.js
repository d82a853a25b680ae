// another recipe has other settings: they are shown as soon as it is chosen
document.getElementById("recipe").addEventListener("change", (event) => event.target.form.submit());
document.getElementById("version")?.addEventListener("change", (event) => {
  document.getElementById("data").value = event.target.value;
});
const shown = document.querySelector("[aria-invalid=true]");
if (shown) shown.focus();

// a second click while the data are checked would start a second training
const start = document.querySelector("button.primary");
start?.form.addEventListener("submit", (event) => {
  if (event.submitter !== start) return;
  if (start.getAttribute("aria-disabled")) event.preventDefault();
  start.setAttribute("aria-disabled", "true");
});
window.addEventListener("pageshow", () => start?.removeAttribute("aria-disabled"));
