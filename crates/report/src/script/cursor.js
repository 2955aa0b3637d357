// A cursor over the panels of a trial: by pointer, by touch, by arrow keys. Its text was written by the page.
(() => {
"use strict";
for (const figure of document.querySelectorAll("figure.cursor")) {
  const svg = figure.querySelector("svg"), strip = svg.querySelector(".strip"), output = figure.querySelector("output");
  const places = strip.dataset.x.split(" ").map(Number), tracks = [...strip.querySelectorAll("[data-says]")];
  const says = tracks.map(track => track.dataset.says.split("|"));
  const line = document.createElementNS(svg.namespaceURI, "line");
  let at = -1;
  line.setAttribute("class", "cursor");
  line.setAttribute("y1", 14);
  line.setAttribute("y2", strip.dataset.bottom);
  const show = place => {
    at = Math.max(0, Math.min(places.length - 1, place));
    line.setAttribute("x1", places[at]);
    line.setAttribute("x2", places[at]);
    strip.append(line);
    output.textContent = tracks.map((track, n) => track.dataset.name + " " + says[n][at]).join(" · ");
  };
  const hide = () => { at = -1; line.remove(); output.textContent = ""; };
  const point = event => {
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    let near = 0;
    places.forEach((place, n) => { if (Math.abs(place - x) < Math.abs(places[near] - x)) near = n; });
    show(near);
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") hide(); });
  figure.tabIndex = 0;
  figure.setAttribute("role", "group");
  figure.setAttribute("aria-label", figure.dataset.label + ": arrow keys move the cursor");
  output.setAttribute("aria-live", "polite");
  figure.addEventListener("keydown", event => {
    // Within the chart the keys move from mark to mark.
    if (event.target !== figure) return;
    const to = { ArrowLeft: Math.max(0, at - 1), ArrowRight: at + 1, Home: 0, End: places.length - 1 }[event.key];
    if (to !== undefined) { show(to); event.preventDefault(); }
    if (event.key === "Escape") hide();
  });
}
})();
