// Charts: the value under the pointer or the keyboard's focus, and each chart as a file of its own.
(() => {
"use strict";
const all = (query, within = document) => Array.from(within.querySelectorAll(query));
const charts = all("main svg:not([aria-hidden])");
const isSeen = (element) => element.getClientRects().length > 0;
const REACH = 26;

const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "status");
tip.hidden = true;
const save = document.createElement("button");
save.type = "button";
save.className = "save";
save.textContent = "save as SVG";
save.hidden = true;
document.body.append(tip, save);

// Our own text replaces the browser's, which would appear late and a second time.
for (const mark of all("main svg .mark")) {
  const title = mark.querySelector("title");
  if (!title) continue;
  mark.setAttribute("aria-label", title.textContent);
  mark.setAttribute("role", "img");
  mark.setAttribute("tabindex", "-1");
  title.remove();
}

let pointed = null;
const point = (mark) => {
  pointed?.classList.remove("pointed");
  pointed = mark;
  tip.hidden = mark === null;
  if (mark === null) return;
  mark.classList.add("pointed");
  const [subject, ...rest] = mark.getAttribute("aria-label").split(": ");
  const name = document.createElement("b");
  name.textContent = subject;
  tip.replaceChildren(name, document.createElement("br"), rest.join(": "));
  const at = mark.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(Math.max(at.left + at.width / 2 - width / 2, 6), document.documentElement.clientWidth - width - 6);
  const above = at.top - height - 9;
  tip.style.left = left + "px";
  tip.style.top = (above < 4 ? at.bottom + 9 : above) + "px";
};

const nearest = (chart, event) => {
  let best = null;
  for (const mark of all(".mark[aria-label]", chart)) {
    const at = mark.getBoundingClientRect();
    if (at.width === 0) continue;
    const apart = Math.hypot(at.left + at.width / 2 - event.clientX, at.top + at.height / 2 - event.clientY);
    if (apart <= REACH && (best === null || apart < best.apart)) best = { mark, apart };
  }
  return best && best.mark;
};

let chosen = null;
const offer = (chart) => {
  chosen = chart;
  save.hidden = chart === null;
  if (chart === null) return;
  // Beside its chart, so that the next Tab reaches it.
  if (save.previousElementSibling !== chart) chart.after(save);
  const at = chart.getBoundingClientRect();
  save.style.top = Math.max(at.top, 4) + "px";
  save.style.left = at.right - save.getBoundingClientRect().width + "px";
};

// From one mark to the next of its subject, or to another subject's mark at the same place.
const step = (chart, key) => {
  const groups = all("g[data-s], g.row", chart)
    .map((group) => all(".mark[aria-label]", group).filter(isSeen))
    .filter((marks) => marks.length > 0);
  if (groups.length === 0) return;
  const row = groups.findIndex((marks) => marks.includes(pointed));
  if (row < 0) return groups[0][0].focus();
  const column = groups[row].indexOf(pointed);
  const down = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  const right = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  const marks = groups[(row + down + groups.length) % groups.length];
  marks[Math.min(Math.max(column + right, 0), marks.length - 1)].focus();
};

const alone = (chart) => {
  const copy = chart.cloneNode(true);
  const copies = all("*", copy);
  const silent = new Set(["title", "desc", "defs", "clipPath", "style"]);
  const unseen = all("*", chart).map((part) =>
    !silent.has(part.tagName) && !part.closest("clipPath, defs") && getComputedStyle(part).display === "none");
  unseen.forEach((isUnseen, place) => { if (isUnseen) copies[place].remove(); });
  for (const mark of all("[aria-label]", copy)) {
    const title = document.createElementNS(copy.namespaceURI, "title");
    title.textContent = mark.getAttribute("aria-label");
    mark.replaceChildren(title);
    for (const name of ["aria-label", "role", "tabindex"]) mark.removeAttribute(name);
  }
  // Axes that were switched stay so in the copy, and nothing is highlighted.
  for (const part of all(".lit, .pointed, .other", copy)) part.classList.remove("lit", "pointed", "other");
  for (const name of ["class", "tabindex", "aria-label"]) copy.removeAttribute(name);
  copy.setAttribute("role", "img");
  const paper = document.createElementNS(copy.namespaceURI, "rect");
  for (const [name, value] of [["width", "100%"], ["height", "100%"], ["fill", "var(--paper)"]]) {
    paper.setAttribute(name, value);
  }
  const style = document.createElementNS(copy.namespaceURI, "style");
  style.textContent = document.getElementById("charts").textContent;
  copy.prepend(style, paper);
  return new XMLSerializer().serializeToString(copy);
};

save.addEventListener("click", () => {
  if (chosen === null) return;
  const title = chosen.querySelector("title")?.textContent ?? "chart";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([alone(chosen)], { type: "image/svg+xml" }));
  link.download = (title.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "chart") + ".svg";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});

for (const chart of charts) {
  chart.setAttribute("tabindex", "0");
  // An image has no parts; this chart has.
  chart.setAttribute("role", "group");
  chart.addEventListener("pointermove", (event) => { offer(chart); point(nearest(chart, event)); });
  chart.addEventListener("pointerdown", (event) => point(nearest(chart, event)));
  chart.addEventListener("pointerleave", (event) => {
    point(null);
    if (event.relatedTarget !== save) offer(null);
  });
  chart.addEventListener("focusin", (event) => {
    offer(chart);
    point(event.target.matches(".mark[aria-label]") ? event.target : null);
  });
  chart.addEventListener("focusout", () => point(null));
  chart.addEventListener("keydown", (event) => {
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    step(chart, event.key);
  });
}
save.addEventListener("blur", () => offer(null));
save.addEventListener("pointerleave", () => offer(null));
// The focused mark keeps its text: moving the focus there may have caused the scrolling.
addEventListener("scroll", () => { point(pointed === document.activeElement ? pointed : null); if (document.activeElement !== save) offer(null); }, { passive: true });
addEventListener("keydown", (event) => { if (event.key === "Escape") point(null); });
})();
