"use strict";
// What is from one line is lit together: the line of the source, and the rows of the graphs.
const places = new Map();
for (const element of document.querySelectorAll("[data-at]")) {
  const key = element.dataset.at;
  if (!places.has(key)) places.set(key, []);
  places.get(key).push(element);
}
let lit = [];
let kept = null;
function light(key) {
  for (const element of lit) element.classList.remove("lit");
  lit = places.get(key) || [];
  for (const element of lit) element.classList.add("lit");
}
function keyOf(event) {
  const element = event.target.closest ? event.target.closest("[data-at]") : null;
  return element ? element.dataset.at : null;
}
document.addEventListener("mouseover", (event) => { if (kept === null) light(keyOf(event)); });
document.addEventListener("click", (event) => {
  const key = keyOf(event);
  if (event.target.closest("summary, a, input")) return;
  kept = key === kept ? null : key;
  light(key);
});

// A link opens what it leads to.
function open(id) {
  let element = id ? document.getElementById(id) : null;
  for (; element; element = element.parentElement) if (element.tagName === "DETAILS") element.open = true;
}
addEventListener("hashchange", () => open(decodeURIComponent(location.hash.slice(1))));
open(decodeURIComponent(location.hash.slice(1)));

// Search: lines that hold the words are outlined, sections without any are hidden.
const search = document.getElementById("search");
const count = document.getElementById("count");
const sections = [...document.querySelectorAll("main > details")];
const lines = sections.map((section) => [...section.querySelectorAll("tr, pre span, summary")]);
const wasOpen = new Map();
function find() {
  const word = search.value.trim().toLowerCase();
  let total = 0;
  let first = null;
  sections.forEach((section, i) => {
    let here = 0;
    for (const line of lines[i]) {
      const holds = word !== "" && line.textContent.toLowerCase().includes(word);
      line.classList.toggle("found", holds);
      if (holds) { here += 1; first = first || line; }
    }
    total += here;
    section.classList.toggle("hidden", word !== "" && here === 0);
    if (word !== "" && !wasOpen.has(section)) wasOpen.set(section, section.open);
    if (here > 0) section.open = true;
    if (word === "" && wasOpen.has(section)) section.open = wasOpen.get(section);
  });
  if (word === "") wasOpen.clear();
  count.textContent = word === "" ? "" : `${total} found`;
  return first;
}
search.addEventListener("input", find);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") { const first = find(); if (first) first.scrollIntoView({ block: "center" }); }
  if (event.key === "Escape") { search.value = ""; find(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
