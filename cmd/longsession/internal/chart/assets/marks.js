"use strict";

// marksOn puts a marker on the curve for each call that followed a compaction. A marker under the pointer or
// with the keyboard's focus shows its compactions; a click keeps them open. articles are the elements of the
// compactions, in the order of shown.marks. marksOn returns {place, remove}.
function marksOn(box, shown, articles) {
  const about = element("div", "about");
  about.hidden = true;
  about.tabIndex = -1;
  about.setAttribute("role", "group");
  about.setAttribute("aria-label", "Compaction");
  let plot, open, kept = false, leaving, returning = false;

  function close() {
    clearTimeout(leaving);
    about.hidden = true;
    open?.classList.remove("open");
    open?.setAttribute("aria-expanded", "false");
    open = undefined;
    kept = false;
  }

  function show(mark) {
    clearTimeout(leaving);
    if (open === mark.button) return;
    close();
    open = mark.button;
    open.classList.add("open");
    open.setAttribute("aria-expanded", "true");
    about.replaceChildren(...mark.articles.map(a => {
      const copy = a.cloneNode(true);
      copy.querySelector("pre").tabIndex = 0; // the keyboard can scroll it
      return copy;
    }));
    about.hidden = false;
    about.scrollTop = 0;
    const left = plot.over.offsetLeft + open.offsetLeft - about.offsetWidth / 2;
    about.style.left = Math.max(0, Math.min(left, box.clientWidth - about.offsetWidth)) + "px";
    about.style.top = plot.root.offsetTop + plot.root.offsetHeight + "px"; // below the curve, which stays visible
  }

  // The pointer leaves both on its way from the marker to the box.
  const leave = () => {
    clearTimeout(leaving);
    if (!kept) leaving = setTimeout(close, 500);
  };

  const byCall = new Map();
  shown.marks.forEach((call, i) => {
    if (!articles[i]) return;
    call = Math.max(0, Math.min(call, shown.with.length - 1)); // a compaction after the last call is shown at that call
    if (!byCall.has(call)) byCall.set(call, []);
    byCall.get(call).push(articles[i]);
  });
  const marks = Array.from(byCall, ([call, articles]) => {
    const button = element("button", "mark");
    const mark = {call, articles, button};
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", articles.map(a => a.querySelector("h4").textContent + ", " + a.querySelector("p").textContent).join("; "));
    button.onpointerenter = e => { if (!kept && e.pointerType === "mouse") show(mark); };
    button.onpointerleave = leave;
    button.onfocus = () => { if (!kept && !returning && button.matches(":focus-visible")) show(mark); };
    button.onblur = e => { if (!about.contains(e.relatedTarget)) leave(); };
    button.onmousedown = e => e.stopPropagation(); // do not begin a zoom
    button.onclick = () => {
      if (open === button && kept) return close();
      show(mark);
      kept = true;
      about.focus({preventScroll: true});
    };
    return mark;
  });

  about.onpointerenter = () => clearTimeout(leaving);
  about.onpointerleave = leave;
  about.onkeydown = e => {
    if (e.key !== "Escape") return;
    const back = open;
    close();
    returning = true; // do not open again
    back?.focus({preventScroll: true});
    returning = false;
  };
  const elsewhere = e => { if (open && !about.contains(e.target) && !open.contains(e.target)) close(); };
  const escape = e => { if (e.key === "Escape" && open && !about.contains(e.target)) close(); };
  document.addEventListener("pointerdown", elsewhere);
  document.addEventListener("keydown", escape);

  return {
    // place moves the markers to their calls.
    place(u) {
      if (!plot) {
        plot = u;
        marks.forEach(m => u.over.append(m.button));
        box.append(about);
      }
      const {min, max} = u.scales.x;
      const drawn = marks.filter(m => m.call + 1 >= min && m.call + 1 <= max).length;
      box.classList.toggle("dense", drawn * 14 > u.over.clientWidth);
      marks.forEach(m => {
        const x = m.call + 1;
        m.button.hidden = x < min || x > max || !u.series[2].show;
        m.button.style.left = u.valToPos(x, "x") + "px";
        m.button.style.top = u.valToPos(shown.with[m.call] ?? 0, "y") + "px";
      });
      if (open?.hidden) close();
    },
    remove() {
      close();
      document.removeEventListener("pointerdown", elsewhere);
      document.removeEventListener("keydown", escape);
    },
  };
}
