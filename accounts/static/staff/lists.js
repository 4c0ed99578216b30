// The key "/" goes to the search box, as in the web client; filters are saved under a name in this browser.
import { SafeStorage, browserStorage } from "../sdk/parley/storage.js";

const kept = new SafeStorage(browserStorage("localStorage"));
const search = document.getElementById("searchbar") ?? document.getElementById("nav-filter");

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey || !search) return;
  event.preventDefault();
  search.focus();
  search.select();
});

const saved = document.getElementById("saved-filters");
if (saved) {
  const key = `parley.staff.filters:${location.pathname}`;
  const list = saved.querySelector("ul");
  const form = saved.querySelector("form");
  const name = document.getElementById("filter-name");
  const chosen = new URLSearchParams(location.search);
  // What was searched for may be an address of a user: it is not kept. Pages and errors belong to one visit.
  for (const parameter of ["q", "p", "e"]) chosen.delete(parameter);

  const read = () => {
    try {
      return Object.entries(JSON.parse(kept.getItem(key) ?? "{}"));
    } catch {
      return [];
    }
  };
  const write = (filters) => kept.setItem(key, JSON.stringify(Object.fromEntries(filters)));

  const draw = () => {
    const filters = read();
    list.replaceChildren(
      ...filters.map(([label, query]) => {
        const link = Object.assign(document.createElement("a"), { href: `?${query}`, textContent: label });
        if (query === chosen.toString()) link.setAttribute("aria-current", "page");
        const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
        remove.setAttribute("aria-label", `${saved.dataset.remove}: ${label}`);
        remove.addEventListener("click", () => {
          write(read().filter(([other]) => other !== label));
          draw();
        });
        const item = document.createElement("li");
        item.append(link, remove);
        return item;
      }),
    );
    list.hidden = filters.length === 0;
    form.hidden = chosen.toString() === "" || filters.some(([, query]) => query === chosen.toString());
    saved.hidden = list.hidden && form.hidden;
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    write([...read().filter(([label]) => label !== name.value.trim()), [name.value.trim(), chosen.toString()]]);
    draw();
  });
  draw();
}
