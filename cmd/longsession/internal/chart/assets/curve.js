"use strict";

// The palette of the page. The color scheme may change while the page is open, so every drawing reads it.
const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const thousands = n => n.toLocaleString("en-US");

const dollars = v => "$" + v.toFixed(v < 0.1 ? 4 : 2);

function element(tag, className, ...content) {
  const e = document.createElement(tag);
  e.className = className;
  e.append(...content);
  return e;
}

// linesOf lists the curves of a chart: the whole history, the shown policy, perhaps another policy, and the
// context window if it is near: far above, it would flatten the curves.
function linesOf(shown, beside, names) {
  const lines = [
    {label: "whole history", key: "without", values: shown.without, width: 1.5},
    {label: names.length > 1 ? names[shown.policy] : "with compaction", key: "with", values: shown.with, width: 2, fill: true},
  ];
  if (beside) lines.push({label: names[beside.policy], key: "beside", values: beside.with, width: 1.5});
  const largest = lines.reduce((m, l) => l.values.reduce((a, b) => Math.max(a, b), m), 0);
  if (shown.limit > 0 && largest >= shown.limit / 2) {
    lines.push({label: "context window", key: "limit", values: shown.without.map(() => shown.limit), width: 1, dash: [6, 5]});
  }
  return lines;
}

// drawCurve draws the chart of a section into box and returns the plot. Call numbers start at 1. It calls
// changed when the reader zooms or hides a line, and drawn after every drawing. The values are tokens, unless shown
// has a heading, and the functions write and tick that write a value in full and at an axis.
function drawCurve(box, shown, lines, changed, drawn) {
  const calls = Math.max(...lines.map(l => l.values.length));
  const x = Array.from({length: calls}, (_, i) => i + 1);
  const whole = calls > 1 ? [1, calls] : [0, 2];
  const short = n => n < 1e3 ? String(n) : n < 1e6 ? n / 1e3 + "k" : n / 1e6 + "M";
  const reset = element("button", "reset", "Show all calls");
  reset.type = "button";
  reset.hidden = true;
  const axis = more => ({
    stroke: () => color("quiet"), font: "12px system-ui, sans-serif", grid: {stroke: () => color("grid"), width: 1}, ticks: {show: false}, ...more,
  });
  const options = {
    width: Math.max(box.clientWidth, 120), height: 280,
    legend: {show: false},
    cursor: {y: false, drag: {x: true, y: false}, points: {size: 6}},
    scales: {
      x: {time: false, range: (u, min, max) => min === max ? whole : [min, max]},
      y: {range: (u, min, max) => [0, max > 0 ? max * 1.08 : 1]},
    },
    axes: [
      axis({incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5], space: 60, size: 30}),
      axis({values: (u, ticks) => ticks.map(shown.tick ?? short), space: 45, size: shown.tick ? 66 : 50}),
    ],
    series: [{}, ...lines.map(l => ({
      label: l.label, stroke: () => color(l.key), fill: l.fill && (() => color("fill")), width: l.width, dash: l.dash,
      points: {show: l.key === "limit" ? false : l.values.length === 1 ? true : undefined, size: 5},
    }))],
    hooks: {
      setScale: [(u, key) => {
        if (key !== "x") return;
        reset.hidden = u.scales.x.min <= whole[0] && u.scales.x.max >= whole[1];
        if (!reset.hidden) changed();
      }],
      draw: [drawn],
    },
  };
  const legend = element("div", "legend", element("span", "", shown.heading ?? "Prompt tokens of each model call"));
  box.append(legend);
  const plot = new uPlot(options, [x, ...lines.map(l => x.map((_, i) => l.values[i] ?? null))], box);
  lines.forEach((l, i) => legend.append(toggle(plot, i + 1, l, changed)));
  if (shown.limit > 0 && lines.every(l => l.key !== "limit")) {
    legend.append(element("span", "", "context window " + thousands(shown.limit) + ", far above"));
  }
  reset.onclick = () => plot.setScale("x", {min: whole[0], max: whole[1]});
  legend.append(reset);
  tell(plot, shown.turns, lines, shown.write ?? thousands);
  return plot;
}

// toggle is the entry of a line in the legend: a button that hides and shows the line.
function toggle(plot, series, line, changed) {
  const button = element("button", "", element("i", "key " + line.key), line.label);
  button.type = "button";
  button.setAttribute("aria-pressed", "true");
  button.title = "Hide or show";
  button.onclick = () => {
    const show = !plot.series[series].show;
    button.setAttribute("aria-pressed", show);
    changed();
    plot.setSeries(series, {show});
  };
  return button;
}

// tell shows a tip at the cursor, with the turn and the sizes of the call.
function tell(plot, turns, lines, write) {
  const tip = element("div", "tip");
  tip.hidden = true;
  plot.over.append(tip);
  plot.hooks.setCursor = [u => {
    const i = u.cursor.idx, left = u.cursor.left;
    tip.hidden = i == null || left < 0 || lines.every(l => l.values[i] === undefined);
    if (tip.hidden) return;
    tip.replaceChildren(element("strong", "", "Call " + thousands(i + 1) + (turns[i] ? " · turn " + thousands(turns[i]) : "")));
    lines.forEach((l, n) => {
      if (u.series[n + 1].show && l.values[i] !== undefined) {
        tip.append(element("div", "", element("i", "key " + l.key), l.label + " " + write(l.values[i])));
      }
    });
    const right = u.over.clientWidth - left;
    tip.style.left = left < right ? left + 14 + "px" : "auto";
    tip.style.right = left < right ? "auto" : right + 14 + "px";
  }];
}
