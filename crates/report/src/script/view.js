// What is shown: which servers, which axes, in which order. All of it is in the address's fragment, so that a view can
// be linked. A fragment is looked up among the existing servers and tables; unknown parts are ignored.
(() => {
"use strict";
const all = (query, within = document) => Array.from(within.querySelectorAll(query));
const root = document.documentElement;
const controls = document.querySelector(".controls");
const search = document.querySelector(".controls input");
const chips = all(".chip");
const ways = all("button[data-way]");
const tables = all(".results").map((element) => ({
  element,
  number: element.dataset.table,
  place: element.querySelector(".chosen"),
  wide: element.querySelector(".widen"),
  heads: all("thead th", element),
  bodies: all("tbody", element).map((body) => ({ body, rows: all("tr", body) })),
  sort: null,
}));
const slotOf = new Map(chips.map((chip) => [chip.dataset.name, chip.dataset.s]));
const nameOf = new Map(chips.map((chip) => [chip.dataset.s, chip.dataset.name]));
const view = { hidden: new Set(), pinned: null, find: "", turned: new Set() };

const isMissed = (chip) => !chip.dataset.find.includes(view.find.toLowerCase());

const read = () => {
  const asked = new URLSearchParams(location.hash.slice(1, 8000));
  const slots = asked.getAll("hide").map((name) => slotOf.get(name));
  view.hidden = new Set(slots.filter((slot) => slot !== undefined));
  view.pinned = slotOf.get(asked.get("lit")) ?? null;
  view.find = (asked.get("find") ?? "").slice(0, 60);
  view.turned = new Set(ways.map((way) => way.dataset.way).filter((way) => asked.get(way) === "other"));
  for (const table of tables) {
    const place = asked.get("at" + table.number) ?? "best";
    if (table.place && Array.from(table.place.options).some((option) => option.value === place)) {
      table.place.value = place;
    }
    if (table.wide) table.wide.checked = asked.get("more" + table.number) === "on";
    const [key, order] = (asked.get("sort" + table.number) ?? "").split(".");
    const isKnown = table.heads.some((head) => head.dataset.key === key);
    table.sort = isKnown && (order === "up" || order === "down") ? { key, order } : null;
  }
};

const write = () => {
  const says = new URLSearchParams();
  for (const slot of view.hidden) says.append("hide", nameOf.get(slot));
  if (view.pinned !== null) says.set("lit", nameOf.get(view.pinned));
  if (view.find) says.set("find", view.find);
  for (const way of view.turned) says.set(way, "other");
  for (const table of tables) {
    if (table.place && table.place.value !== "best") says.set("at" + table.number, table.place.value);
    if (table.wide?.checked) says.set("more" + table.number, "on");
    if (table.sort) says.set("sort" + table.number, table.sort.key + "." + table.sort.order);
  }
  const fragment = says.toString();
  history.replaceState(null, "", fragment ? "#" + fragment : location.pathname + location.search);
};

const light = (slot) => {
  const lit = slot ?? view.pinned;
  root.classList.toggle("lighting", lit !== null);
  for (const element of all("[data-s]")) element.classList.toggle("lit", element.dataset.s === lit);
};

const show = () => {
  const isOff = new Map(chips.map((chip) => [chip.dataset.s, view.hidden.has(chip.dataset.s) || isMissed(chip)]));
  for (const element of all("[data-s]:not(.chip)")) {
    element.classList.toggle("off", isOff.get(element.dataset.s) === true);
  }
  for (const chip of chips) {
    chip.setAttribute("aria-pressed", String(!view.hidden.has(chip.dataset.s)));
    chip.classList.toggle("missed", isMissed(chip));
  }
  for (const way of ways) {
    const isTurned = view.turned.has(way.dataset.way);
    way.setAttribute("aria-pressed", String(isTurned));
    root.classList.toggle(way.dataset.way + "-turned", isTurned);
  }
  if (search) search.value = view.find;
  tables.forEach(order);
  light(null);
};

const valueOf = (row, column) => {
  const cell = row.cells[column];
  if (!cell) return { text: "" };
  return { number: cell.dataset.v === undefined ? undefined : Number(cell.dataset.v), text: cell.textContent };
};

const compared = (one, other) => {
  if (one.number !== undefined && other.number !== undefined) return one.number - other.number;
  return one.text.localeCompare(other.text, "en", { numeric: true });
};

const order = (table) => {
  const column = table.heads.findIndex((head) => table.sort && head.dataset.key === table.sort.key);
  for (const { body, rows } of table.bodies) {
    const sorted = rows.map((row, place) => ({ row, place, value: valueOf(row, column) }));
    if (table.sort) {
      const isAnyNumber = sorted.some((entry) => entry.value.number !== undefined);
      const sign = table.sort.order === "up" ? 1 : -1;
      sorted.sort((one, other) => {
        // A row without a number comes last, in either direction.
        const gap = isAnyNumber ? (one.value.number === undefined) - (other.value.number === undefined) : 0;
        return gap || sign * compared(one.value, other.value) || one.place - other.place;
      });
    }
    body.append(...sorted.map((entry) => entry.row));
  }
  table.element.classList.toggle("sorted", table.sort !== null);
  table.heads.forEach((head, place) => {
    const order = table.sort && place === column ? table.sort.order : null;
    head.setAttribute("aria-sort", order === null ? "none" : order === "up" ? "ascending" : "descending");
  });
};

const changed = () => { write(); show(); };

const turnSort = (table, key, isNumber) => {
  const orders = isNumber ? ["down", "up"] : ["up", "down"];
  const now = table.sort && table.sort.key === key ? orders.indexOf(table.sort.order) : -1;
  table.sort = now === 1 ? null : { key, order: orders[now + 1] };
  changed();
};

const markdown = (table) => {
  const safe = (text) => text.trim().replace(/\s+/g, " ").replace(/&/g, "&amp;").replace(/[\\`*_[\]<>|~]/g, "\\$&");
  const rows = table.bodies.flatMap(({ body }) => all("tr", body)).filter((row) => row.getClientRects().length > 0);
  const line = (cells) => "| " + cells.join(" | ") + " |";
  // Columns that are not shown are not copied.
  const places = table.heads.map((_, place) => place).filter((place) => table.heads[place].getClientRects().length > 0);
  const isText = (place) => rows.every((row) => row.cells[place].dataset.v === undefined);
  const heads = places.map((place) => safe(table.heads[place].textContent));
  const rules = places.map((place) => (isText(place) ? "---" : "---:"));
  const bodies = rows.map((row) => line(places.map((place) => safe(row.cells[place].textContent))));
  return [line(heads), line(rules), ...bodies].join("\n") + "\n";
};

const button = (says, act) => {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = says;
  made.addEventListener("click", () => act(made));
  return made;
};

const copy = (table, text, made) => {
  const say = (says) => {
    made.textContent = says;
    setTimeout(() => { made.textContent = "copy as Markdown"; }, 2000);
  };
  // Where the browser does not allow copying, people copy by hand.
  const byHand = () => {
    let field = table.element.querySelector("textarea");
    if (!field) {
      field = document.createElement("textarea");
      field.readOnly = true;
      field.setAttribute("aria-label", "the table as Markdown");
      made.parentElement.after(field);
    }
    field.value = text;
    field.focus();
    field.select();
  };
  const clipboard = navigator.clipboard;
  if (!clipboard) return byHand();
  clipboard.writeText(text).then(() => say("copied"), byHand);
};

for (const table of tables) {
  for (const head of table.heads) {
    const { key } = head.dataset;
    const place = table.heads.indexOf(head);
    const isNumber = () => table.bodies.some(({ rows }) => rows.some((row) => valueOf(row, place).number !== undefined));
    head.replaceChildren(button(head.textContent, () => turnSort(table, key, key !== "rank" && isNumber())));
  }
  table.element.querySelector(".tools").append(
    button("copy as Markdown", (made) => copy(table, markdown(table), made)),
  );
  table.place?.addEventListener("change", changed);
  table.wide?.addEventListener("change", changed);
}
for (const chip of chips) {
  const { s } = chip.dataset;
  chip.addEventListener("click", () => {
    if (!view.hidden.delete(s)) view.hidden.add(s);
    changed();
  });
  chip.addEventListener("focus", () => light(s));
  chip.addEventListener("blur", () => light(null));
}
for (const way of ways) {
  way.addEventListener("click", () => {
    if (!view.turned.delete(way.dataset.way)) view.turned.add(way.dataset.way);
    changed();
  });
}
for (const made of all("button[data-all]")) {
  made.addEventListener("click", () => {
    view.hidden = new Set(made.dataset.all === "on" ? [] : chips.map((chip) => chip.dataset.s));
    if (made.dataset.all === "on") [view.find, view.pinned] = ["", null];
    changed();
  });
}
search?.addEventListener("input", () => { view.find = search.value; changed(); });
// The subject under the pointer stands out everywhere; a click on a name keeps it so, until the next one or Escape.
document.addEventListener("pointerover", (event) => {
  const over = event.target.closest?.("[data-s]");
  light(over && nameOf.has(over.dataset.s) ? over.dataset.s : null);
});
document.addEventListener("click", (event) => {
  const named = event.target.closest?.("tr[data-s] th, svg [data-s]");
  const slot = named?.closest("[data-s]").dataset.s;
  if (slot === undefined || !nameOf.has(slot)) return;
  view.pinned = view.pinned === slot ? null : slot;
  changed();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || view.pinned === null) return;
  view.pinned = null;
  changed();
});
addEventListener("hashchange", () => {
  // A link to a part of the page is not a view.
  if (location.hash === "" || location.hash.includes("=")) { read(); show(); }
});
if (controls) controls.hidden = false;
read();
show();
})();
