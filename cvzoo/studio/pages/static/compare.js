// the comparison of runs: one curve of each over the other
import { askJSON, tellAway } from "./ask.js";
import { Chart, chartOptions } from "./chart.js";

const holder = document.getElementById("compare");
const jobs = JSON.parse(holder.dataset.jobs);
const choice = document.getElementById("curve");
const options = chartOptions(() => draw());
let chart = null;
let runs = [];

function draw() {
  const key = choice.value;
  const series = runs
    .map((run) => ({ run, found: run.series.find((each) => each.key === key) }))
    .filter(({ found }) => found && found.value.length)
    .map(({ run, found }) => ({ ...found, label: run.name, epochsPerIteration: run.n_epoch / run.n_iteration || null }));
  chart ??= new Chart(holder, "");
  chart.figure.querySelector("figcaption").textContent = key;
  if (series.length) chart.draw(series, options());
}

async function load(job) {
  try {
    return { ...job, series: (await askJSON(`/api/v1/jobs/${job.id}/metrics?points=1500`)).series };
  } catch (error) {
    tellAway(`The curves of ${job.name} could not be read: ${error.message}. Load the page again.`);
    return { ...job, series: [] };
  }
}

runs = await Promise.all(jobs.map(load));
const keys = [...new Set(runs.flatMap((run) => run.series.map((each) => each.key)))];
const shared = (key) => runs.filter((run) => run.series.some((each) => each.key === key)).length;
keys.sort((a, b) => shared(b) - shared(a) || a.localeCompare(b));
for (const key of keys) choice.append(new Option(key, key));
if (keys.includes("main/loss")) choice.value = "main/loss";
choice.addEventListener("input", draw);
if (keys.length) draw();
else holder.textContent = "No values yet.";
holder.setAttribute("aria-busy", "false");
