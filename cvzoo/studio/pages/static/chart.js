// curves: series of a run to uPlot's figures, with smoothing, a logarithmic axis, and three kinds of x
const COLORS = {
  light: ["#1f5fbf", "#b3261e", "#18703c", "#8a5300", "#6b3fa0", "#00727a", "#a8206b", "#56606e"],
  dark: ["#7db1ff", "#ff9d94", "#7fd6a0", "#f2bd6b", "#c5a3f5", "#6fd3da", "#ff93c9", "#a3adba"],
};
// lines are told apart by their dashes, too; the legend has the same as styles of its markers
const DASHES = [undefined, [9, 4], [2, 3], [12, 3, 2, 3]];
const MARKERS = ["solid", "dashed", "dotted", "double"];
const HEIGHT = 240;

/** The dashes of a series: those that share a color have others. */
const dashOf = (i) => (i + Math.floor(i / COLORS.light.length)) % DASHES.length;

export const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

/** Exponential moving average without the bias towards the first values. */
export function smoothed(values, weight) {
  if (!weight) return values;
  let mean = 0;
  let sum = 0;
  return values.map((value) => {
    mean = mean * weight + value;
    sum = sum * weight + 1;
    return mean / sum;
  });
}

/** x of a series: iterations, epochs (exact, if the length is known) or minutes. */
function xOf(series, kind, epochsPerIteration) {
  if (kind === "elapsed_time") return series.elapsed_time.map((seconds) => (seconds === null ? null : seconds / 60));
  if (kind === "epoch" && epochsPerIteration) return series.iteration.map((iteration) => iteration * epochsPerIteration);
  return series[kind];
}

function table(series, options) {
  const xs = xOf(series, options.x, series.epochsPerIteration);
  const kept = xs.map((x, i) => i).filter((i) => xs[i] !== null && (!options.log || series.value[i] > 0));
  const values = smoothed(kept.map((i) => series.value[i]), options.smooth);
  // a run that was resumed has a later row at an earlier x never; equal ones keep the last
  const points = new Map(kept.map((i, k) => [xs[i], values[k]]));
  const sorted = [...points.keys()].sort((a, b) => a - b);
  return [sorted, sorted.map((x) => points.get(x))];
}

/** The range of an axis of values: as usual, but 0 to 1, not 100, for zeros alone. */
const rangeOf = (_, least, most) => {
  if (least === null || most === null) return [null, null];
  return least === 0 && most === 0 ? [0, 1] : uPlot.rangeNum(least, most, 0.1, true);
};

/** A figure with the series, [{key, label, iteration, epoch, elapsed_time, value}]; call `draw` when they change. */
export class Chart {
  constructor(parent, title) {
    this.figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    this.holder = document.createElement("div");
    this.figure.append(caption, this.holder);
    parent.append(this.figure);
    this.plot = null;
    this.made = "";
    new ResizeObserver(() => this.plot && this.plot.setSize({ width: this.width(), height: HEIGHT })).observe(this.figure);
  }

  width() {
    return Math.max(this.holder.clientWidth, 200);
  }

  draw(series, options) {
    const dark = isDark();
    const tables = series.map((each) => table(each, options));
    const data = tables.length > 1 ? uPlot.join(tables) : tables[0];
    const made = JSON.stringify([series.map((each) => each.label), options.x, options.log, dark]);
    if (made === this.made) {
      this.plot.setData(data);
      return;
    }
    this.made = made;
    if (this.plot) this.plot.destroy();
    this.plot = new uPlot(this.options(series, options, dark), data, this.holder);
  }

  options(series, options, dark) {
    const colors = COLORS[dark ? "dark" : "light"];
    const style = getComputedStyle(document.documentElement);
    const axis = {
      stroke: style.getPropertyValue("--soft"),
      grid: { stroke: style.getPropertyValue("--line"), width: 1 },
      ticks: { stroke: style.getPropertyValue("--line"), width: 1 },
    };
    const digits = (plot, value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(4)).toString());
    const short = (tick) => (tick && Math.abs(tick) < 0.001 ? tick.toExponential().replace("e-", "e−") : digits(null, tick));
    const label = { iteration: "iteration", epoch: "epoch", elapsed_time: "minutes" }[options.x];
    return {
      width: this.width(),
      height: HEIGHT,
      legend: { markers: { width: 3, dash: (_, i) => MARKERS[dashOf(Math.max(i - 1, 0))] } }, // the first one is x
      scales: { x: { time: false }, y: options.log ? { distr: 3 } : { range: rangeOf } },
      axes: [axis, { ...axis, size: 62, values: (plot, ticks) => ticks.map((tick) => (tick === null ? "" : short(tick))) }],
      series: [
        { label, value: digits },
        ...series.map((each, i) => ({
          label: each.label,
          stroke: colors[i % colors.length],
          dash: DASHES[dashOf(i)],
          width: 1.8,
          spanGaps: true,
          points: { show: each.value.length < 40 },
          value: digits,
        })),
      ],
    };
  }
}

/** The settings above the charts; `changed` is called when one of them is. */
export function chartOptions(changed) {
  const x = document.getElementById("x-axis");
  const smooth = document.getElementById("smooth");
  const log = document.getElementById("log-scale");
  const shown = document.getElementById("smooth-value");
  for (const control of [x, smooth, log]) {
    control.addEventListener("input", () => {
      shown.textContent = smooth.value;
      changed();
    });
  }
  document.addEventListener("theme", changed);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  return () => ({ x: x.value, smooth: Number(smooth.value), log: log.checked });
}
