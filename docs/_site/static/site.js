// Names the theme's two sidebars, and lets the keyboard reach every box that scrolls.
"use strict";
(() => {
  const name = (box, label) => document.querySelector(box)?.setAttribute("aria-label", label);
  name(".sidebar-drawer", "All pages");
  name(".toc-drawer", "On this page");
  const mark = () => {
    for (const box of document.querySelectorAll(".table-wrapper, .formula, pre")) {
      if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("load", mark);
  addEventListener("resize", mark);
})();
