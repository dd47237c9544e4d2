"use strict";
// Filters, search and permanent links. Without this script everything is there, and closed.
(() => {
  const form = document.getElementById("filters");
  const none = document.getElementById("none");
  const statements = [...document.querySelectorAll("details.statement")];
  const choices = ["source", "standing", "severity", "kind"];
  if (!form) return;
  form.hidden = false;

  const show = () => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const one of statements) {
      const fits =
        choices.every((name) => !form.elements[name].value || one.dataset[name] === form.elements[name].value) &&
        words.every((word) => one.dataset.text.includes(word));
      one.hidden = !fits;
      count += fits;
    }
    none.hidden = count > 0;
    form.querySelector("output").textContent = `${count} of ${statements.length} statements`;
  };

  // A link leads to its statement whatever is filtered.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const statement = target && target.closest("details.statement");
    if (!statement) return;
    if (statement.hidden) { form.reset(); show(); }
    statement.open = true;
    target.scrollIntoView();
  };

  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.elements.all.addEventListener("click", (event) => {
    const open = event.target.textContent === "open all";
    for (const one of statements) if (!one.hidden) one.open = open;
    event.target.textContent = open ? "close all" : "open all";
  });
  addEventListener("hashchange", reveal);
  // What is open is printed. If nothing is, what was filtered: all of them would be 300 pages.
  addEventListener("beforeprint", () => {
    const shown = statements.filter((one) => !one.hidden);
    if (shown.length < statements.length && !shown.some((one) => one.open)) for (const one of shown) one.open = true;
  });
  addEventListener("keydown", (event) => {
    const search = form.elements.text;
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      show();
    }
  });
  show();
  reveal();
})();
