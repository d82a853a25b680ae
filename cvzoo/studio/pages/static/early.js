// before the page is drawn, so that it does not flash in the other colors
(() => {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
})();

// a button that is pressed before the page's scripts listen is pressed as soon as they do
(() => {
  let pressed = null;
  const keep = (event) => {
    const button = event.target.closest("button[type=button]");
    if (!button) return;
    pressed = button;
    event.stopPropagation();
  };
  document.addEventListener("click", keep, true);
  document.addEventListener("DOMContentLoaded", () => {
    document.removeEventListener("click", keep, true);
    pressed?.click();
  });
})();
