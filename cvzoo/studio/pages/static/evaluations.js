// the form of a new evaluation: the data of a run do not stay when the model of another one is chosen
const model = document.getElementById("model");
const data = document.getElementById("data");
const split = document.getElementById("split");
let before = model?.selectedOptions[0];

model?.addEventListener("change", () => {
  const now = model.selectedOptions[0];
  if (data.value && data.value === before?.dataset.data) {
    data.value = now.dataset.data ?? "";
    split.value = now.dataset.split ?? "";
  }
  before = now;
});
