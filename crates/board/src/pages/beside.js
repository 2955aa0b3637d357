// Puts two servers beside each other, by what data/index.js assigns. It writes text only, and no markup.
(() => {
"use strict";
const index = window.dynoIndex;
const place = document.getElementById("beside");
if (!index || !place) return;
const make = (name, text, parent, more) => {
  const made = Object.assign(document.createElement(name), more);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
};
const rows = index.rows.map((row) => ({
  server: row[0], load: row[1], figure: index.texts[row[2]], value: row[3], verdict: index.verdicts[row[4]],
  version: index.texts[row[5]], trials: row[6], run: index.runs[row[7]],
}));
place.replaceChildren();
const asked = new URLSearchParams(location.hash.slice(1, 2000));
const chosen = ["a", "b"].map((side, n) => {
  const label = make("label", side.toUpperCase() + ": ", make("p", undefined, place));
  const select = make("select", undefined, label);
  index.servers.map((name, at) => [name, at]).sort().forEach(([name, at]) => {
    make("option", name, select, { value: String(at), selected: name === asked.get(side) });
  });
  if (!asked.has(side) && n < index.servers.length) select.selectedIndex = n;
  return select;
});
const results = make("div", undefined, place, { className: "results" });
const out = make("div", undefined, results, { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "the two servers" });
const newest = (server) => {
  const best = new Map();
  for (const row of rows) {
    if (row.server !== server) continue;
    const key = row.load + " " + row.run[2];
    const other = best.get(key);
    const isValid = (it) => it.verdict === "valid";
    if (!other || Number(isValid(row)) - Number(isValid(other)) > 0 ||
      (isValid(row) === isValid(other) && row.run[1] >= other.run[1])) best.set(key, row);
  }
  return best;
};
const show = () => {
  const [a, b] = chosen.map((select) => Number(select.value));
  const [ofA, ofB] = [newest(a), newest(b)];
  const says = new URLSearchParams({ a: index.servers[a] ?? "", b: index.servers[b] ?? "" });
  history.replaceState(null, "", "#" + says.toString());
  out.replaceChildren();
  for (const [isOwn, says] of [[true, "On the board's own machines"], [false, "On other machines"]]) {
    const table = make("table");
    make("caption", says, table);
    const head = make("tr", undefined, make("thead", undefined, table));
    const names = ["workload and load", "figure", index.servers[a], index.servers[b], "verdicts", "versions", "trials", "dates", "dyno", "machine class", "runs"];
    for (const name of names) make("th", name, head, { scope: "col", className: "text" });
    const body = make("tbody", undefined, table);
    for (const [key, one] of ofA) {
      const other = ofB.get(key);
      if (!other || index.own.includes(index.texts[one.run[2]]) !== isOwn) continue;
      const line = make("tr", undefined, body);
      make("th", index.loads[one.load], line, { scope: "row" });
      const both = (x, y) => (x === y ? x : x + "; " + y);
      const texts = [one.figure, one.value, other.value, both(one.verdict, other.verdict), both(one.version, other.version),
        both(one.trials, other.trials), both(index.dates[one.run[1]], index.dates[other.run[1]]),
        both(index.texts[one.run[3]], index.texts[other.run[3]]), index.texts[one.run[2]]];
      for (const text of texts) make("td", text, line, { className: "text" });
      const runs = make("td", undefined, line);
      for (const [id] of new Set([one.run, other.run])) {
        make("a", id.slice(0, 8), runs, { href: "../r/" + id + "/index.html" });
        runs.append(" ");
      }
    }
    if (body.rows.length) out.append(table);
  }
  out.append(make("p", out.hasChildNodes() ?
    "Whether two values differ is decided on the pages of workloads and of common questions." : "No load has rows of both."));
};
for (const select of chosen) select.addEventListener("change", show);
show();
})();
