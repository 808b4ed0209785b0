"use strict";
// Copies the text of the block that a button stands in; without a clipboard, selects it.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const text = button.closest(".copyable").querySelector("code");
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(text);
    button.textContent = "Selected";
  }
});
// A link into a folded part opens it.
function unfold() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target; part; part = part.parentElement) {
    if (part.tagName === "DETAILS") part.open = true;
  }
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", unfold);
addEventListener("load", unfold);
// On paper nothing can be unfolded.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
// Filters findings and the contracts of the table of families. Without scripts everything is there.
const tools = document.getElementById("tools");
if (tools) {
  const entries = [...document.querySelectorAll("main [data-family]")];
  const texts = entries.map((entry) => entry.textContent.toLowerCase());
  const words = tools.querySelector("input");
  const choices = [...tools.querySelectorAll("select")];
  const unfolding = tools.querySelector("[data-unfold]");
  const isFinding = (entry) => entry.classList.contains("finding");
  const findings = entries.filter(isFinding);
  function filter() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    entries.forEach((entry, number) => {
      entry.hidden = !(wanted.every((word) => texts[number].includes(word)) && choices.every(
        (choice) => !choice.value || entry.dataset[choice.name].split(" ").includes(choice.value)));
    });
    const filtered = wanted.length > 0 || choices.some((choice) => choice.value);
    for (const family of document.querySelectorAll(".matrix details")) {
      family.hidden = !family.querySelector("[data-family]:not([hidden])");
      family.open = filtered && !family.hidden;
    }
    const [shown, rows] = [true, false].map((kind) =>
      entries.filter((entry) => isFinding(entry) === kind && !entry.hidden).length);
    tools.querySelector("output").textContent = filtered
      ? `${shown} of ${findings.length} findings, ${rows} of ${entries.length - findings.length} contracts` : "";
  }
  tools.addEventListener("input", filter);
  unfolding.addEventListener("click", () => {
    const open = unfolding.textContent === "Expand all";
    for (const part of document.querySelectorAll("main .finding, .matrix details")) part.open = open;
    unfolding.textContent = open ? "Fold all" : "Expand all";
  });
  tools.hidden = false;
}
