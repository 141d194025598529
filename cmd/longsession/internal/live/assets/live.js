"use strict";

// The script of the pages of a live session. It asks for the page again and again, puts what has changed in its place,
// and draws the curves.
(() => {
  const status = document.getElementById("status"), line = document.getElementById("live");
  const address = document.body.dataset.live;
  const every = 1000, slowest = 15000;
  let tag = "", wait = every, timer;

  const say = (text, lost) => {
    line.hidden = false;
    line.classList.toggle("lost", lost);
    if (status.textContent !== text) status.textContent = text;
  };

  // ---- the parts of the page

  const text = new Map(); // the source of each element with an id, as the server wrote it
  function remember(root) {
    root.querySelectorAll("[data-part]").forEach(e => text.set(e.id, e.innerHTML));
    root.querySelectorAll("[data-list]").forEach(list => Array.from(list.children).forEach(e => text.set(e.id, e.outerHTML)));
  }

  const holdsFocus = e => e.contains(document.activeElement) && e !== document.activeElement;

  function replacePart(now, then) {
    if (text.get(then.id) === then.innerHTML || holdsFocus(now)) return;
    const open = new Set(Array.from(now.querySelectorAll("details[open]"), e => e.id));
    text.set(then.id, then.innerHTML);
    now.innerHTML = then.innerHTML;
    now.querySelectorAll("details").forEach(e => e.open = open.has(e.id));
  }

  // replaceList keeps the elements that did not change, so that the reader's selection, focus and place stay.
  function replaceList(now, then) {
    const old = new Map(Array.from(now.children, e => [e.id, e]));
    let fresh = 0, before = now.firstElementChild;
    for (const e of Array.from(then.children)) {
      const source = e.outerHTML;
      let have = old.get(e.id);
      old.delete(e.id);
      if (!have || text.get(e.id) !== source && !holdsFocus(have)) {
        const made = document.importNode(e, true);
        text.set(e.id, source);
        if (have) {
          if (before === have) before = made;
          have.replaceWith(made);
        } else {
          fresh++;
          made.classList.add("fresh");
        }
        have = made;
      }
      if (have !== before) now.insertBefore(have, before); else before = before.nextElementSibling;
    }
    old.forEach((e, id) => { e.remove(); text.delete(id); });
    return fresh;
  }

  const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 120;
  const newer = document.getElementById("newer");
  const toEnd = () => scrollTo({top: document.documentElement.scrollHeight});
  if (newer) {
    document.getElementById("to-end").onclick = () => { newer.hidden = true; toEnd(); };
    addEventListener("scroll", () => { if (atEnd()) newer.hidden = true; }, {passive: true});
    if (!location.hash && !new URLSearchParams(location.search).has("from")) toEnd();
  }

  function replace(page) {
    const end = atEnd();
    let fresh = 0;
    page.querySelectorAll("[data-part]").forEach(e => { const now = document.getElementById(e.id); if (now) replacePart(now, e); });
    page.querySelectorAll("[data-list]").forEach(e => { const now = document.getElementById(e.id); if (now) fresh += replaceList(now, e); });
    if (fresh > 0) say(fresh === 1 ? "Live. 1 new entry." : `Live. ${fresh} new entries.`, false);
    if (fresh > 0 && newer) { if (end) toEnd(); else newer.hidden = false; }
    return drawing ? drawing.update() : undefined;
  }

  async function ask() {
    clearTimeout(timer);
    const began = performance.now();
    try {
      const answer = await fetch(address, {headers: tag ? {"If-None-Match": tag} : {}, cache: "no-store"});
      if (answer.status === 304) {
        if (line.classList.contains("lost") || line.hidden) say("Live.", false);
      } else if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (line.classList.contains("lost") || line.hidden) say("Live.", false);
        await replace(page);
        tag = answer.headers.get("ETag") ?? "";
      } else {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        throw new Error(page.querySelector(".note")?.textContent ?? answer.statusText);
      }
      wait = Math.min(slowest, Math.max(every, 3 * (performance.now() - began))); // a long session takes longer
    } catch (e) {
      wait = Math.min(2 * wait, slowest);
      say(e instanceof TypeError ? "The server does not answer. Trying again." : e.message + " Trying again.", true);
    }
    if (!document.hidden) timer = setTimeout(ask, wait);
  }

  // ---- the curves

  const section = document.querySelector("[data-curve]");
  const drawing = section && curves(section);

  function curves(section) {
    const size = document.getElementById("size"), money = document.getElementById("money"), undrawn = document.getElementById("undrawn");
    const all = {turns: [], seqs: [], with: [], without: [], usd: [], marks: [], limit: 0};
    let drawn = [], touched = false, shownCalls = -1, shownMarks = "";


    function remove() {
      drawn.forEach(({plot, marks}) => { marks?.remove(); plot.destroy(); });
      drawn = [];
      size.replaceChildren();
      money.replaceChildren();
    }

    function draw() {
      remove();
      touched = false;
      undrawn.hidden = true;
      section.classList.toggle("none", all.with.length === 0);
      shownCalls = all.with.length;
      shownMarks = all.marks.join();
      if (shownCalls === 0) return;
      const shown = {policy: 0, limit: all.limit, turns: all.turns, with: all.with, without: all.without, marks: all.marks};
      const lines = linesOf(shown, undefined, [""]);
      lines[0].label = "whole history (estimate after the first compaction)";
      lines[1].label = "sent to the model";
      const articles = Array.from(document.querySelectorAll("#records article"), a => {
        const copy = a.cloneNode(true), title = document.createElement("h4");
        title.textContent = copy.querySelector("h3").textContent;
        copy.querySelector("h3").replaceWith(title);
        return copy;
      });
      const marks = marksOn(size, shown, articles);
      drawn.push({box: size, marks, plot: drawCurve(size, shown, lines, () => touched = true, marks.place)});
      const costs = {...shown, limit: 0, heading: "Cost so far, summaries included", write: dollars, tick: dollars};
      drawn.push({box: money, plot: drawCurve(money, costs, [{label: "this session", key: "with", values: all.usd, width: 2, fill: true}], () => touched = true, () => {})});
      drawn.forEach(({plot}) => opens(plot));
      for (const [box, name] of [[size, "Prompt tokens of each model call"], [money, "Cost so far"]]) {
        const canvas = box.querySelector("canvas");
        canvas?.setAttribute("role", "img");
        canvas?.setAttribute("aria-label", name + ". The table of the turns has the numbers.");
      }
    }

    // opens lets a click on a call lead to its prompt. A drag zooms in.
    function opens(plot) {
      let down = 0;
      plot.over.addEventListener("mousedown", e => down = e.clientX);
      plot.over.addEventListener("click", e => {
        const seq = all.seqs[plot.cursor.idx ?? -1];
        if (seq > 0 && Math.abs(e.clientX - down) < 4) location.href = section.dataset.prompt + "&at=" + seq;
      });
    }

    const busy = () => touched || section.querySelector(".about:not([hidden])") || section.contains(document.activeElement);

    async function update() {
      const answer = await fetch(section.dataset.curve + "&from=" + all.with.length, {cache: "no-store"});
      if (!answer.ok) return;
      const more = await answer.json();
      if (more.from < all.with.length) for (const key of ["turns", "seqs", "with", "without", "usd"]) all[key].length = more.from;
      for (const key of ["turns", "seqs", "with", "without", "usd"]) for (const v of more[key]) all[key].push(v);
      all.marks = more.marks;
      all.limit = more.limit;
      if (all.with.length === shownCalls && all.marks.join() === shownMarks) return;
      if (shownCalls > 0 && busy()) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = "Draw what is new";
        button.onclick = () => { button.blur(); draw(); };
        undrawn.replaceChildren(button);
        undrawn.hidden = false;
        return;
      }
      draw();
    }

    new ResizeObserver(() => drawn.forEach(({box, plot}) => { if (box.clientWidth > 0) plot.setSize({width: box.clientWidth, height: plot.height}); })).observe(section);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach(({plot}) => plot.redraw(false)));
    return {update};
  }

  remember(document);
  if (drawing) drawing.update();
  if (address) {
    document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
    ask();
  }
})();
