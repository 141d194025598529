"use strict";

// The sections of the page. A chart is drawn when its section comes near the window and dropped when the
// section is far away, because a hundred canvases take a lot of memory.
(() => {
  const policy = document.getElementById("policy"), besides = document.getElementById("beside");
  const names = policy ? Array.from(policy.options, o => o.text) : [""];

  function chartOf(section) {
    const box = section.querySelector(".chart"), money = section.querySelector(".costs");
    let curves, plot, costs, marks, touched = false;

    function draw() {
      if (plot) return;
      curves ??= JSON.parse(section.querySelector('script[type="application/json"]').textContent)
        .map((c, i, all) => ({...c, turns: c.turns ?? all[0].turns ?? [], without: c.without ?? all[0].without ?? [], withoutUsd: c.withoutUsd ?? all[0].withoutUsd}));
      const shown = policy ? curves.find(c => c.policy === +policy.value) : curves[0];
      const beside = policy && besides.value !== "" && besides.value !== policy.value ? curves.find(c => c.policy === +besides.value) : undefined;
      if (!shown || shown.with.length + shown.without.length === 0) return;
      marks = marksOn(box, shown, section.querySelectorAll(`.run[data-policy="${shown.policy}"] .compactions article`));
      plot = drawCurve(box, shown, linesOf(shown, beside, names), () => touched = true, marks.place);
      if (money && shown.usd) {
        const cost = c => ({...c, limit: 0, with: c.usd, without: c.withoutUsd});
        const heading = {heading: "Cost so far, summaries included", write: dollars, tick: dollars};
        costs = drawCurve(money, {...cost(shown), ...heading}, linesOf(cost(shown), beside?.usd && cost(beside), names), () => touched = true, () => {});
      }
    }
    function remove() {
      if (!plot) return;
      marks.remove();
      plot.destroy();
      costs?.destroy();
      box.replaceChildren();
      money?.replaceChildren();
      plot = costs = undefined;
      touched = false;
    }
    return {
      section, draw, remove,
      away() { if (!touched) remove(); },
      fit() { for (const p of [plot, costs]) if (p && box.clientWidth > 0) p.setSize({width: box.clientWidth, height: p.height}); },
      paint() { plot?.redraw(false); costs?.redraw(false); },
    };
  }

  const charts = new Map(Array.from(document.querySelectorAll("section.conversation"), s => [s, chartOf(s)]));
  const near = new IntersectionObserver(entries => entries.forEach(e => {
    const chart = charts.get(e.target);
    if (e.isIntersecting) chart.draw(); else chart.away();
  }), {rootMargin: "100% 0px"});
  const watch = () => charts.forEach((_, section) => { near.unobserve(section); near.observe(section); });

  function choose() {
    document.querySelectorAll("[data-policy]").forEach(e => e.hidden = e.dataset.policy !== policy.value);
    document.querySelectorAll("[data-row]").forEach(e => {
      e.classList.toggle("shown", e.dataset.row === policy.value);
      e.classList.toggle("beside", e.dataset.row === besides.value && besides.value !== policy.value);
    });
    charts.forEach(c => c.remove());
    watch();
  }
  if (policy) {
    document.getElementById("choice").hidden = false;
    policy.onchange = besides.onchange = choose;
    choose();
  } else {
    watch();
  }

  const fit = () => charts.forEach(c => c.fit());
  new ResizeObserver(fit).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach(c => c.paint()));
  addEventListener("beforeprint", () => charts.forEach(c => c.draw()));
})();
