// Names the theme's two sidebars and the search, and lets the keyboard reach every box that scrolls.
"use strict";
(() => {
  const name = (box, label) => document.querySelector(box)?.setAttribute("aria-label", label);
  name(".sidebar-drawer", "All pages");
  name(".toc-drawer", "On this page");
  if (!document.querySelector("h1")) {  // the page of the search has none
    const title = document.createElement("h1");
    title.className = "unseen";
    title.textContent = "Search";
    document.querySelector("[role=main]")?.prepend(title);
  }
  const mark = () => {
    for (const box of document.querySelectorAll(".table-wrapper, .formula, pre")) {
      if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("load", mark);
  addEventListener("resize", mark);
})();
