"use strict";
(() => {
  const options = {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    ast: true, // expressions are interpreted: no eval
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  };

  const draw = async (place) => {
    const spec = JSON.parse(document.getElementById(place.dataset.chart).textContent);
    const width = place.clientWidth;
    if (width < 480) {
      narrow(spec, width);
      const { axisX, legend } = (spec.config ??= {});
      spec.config.axisX = { ...axisX, titleAnchor: "end" };
      spec.config.legend = { ...legend, layout: { top: { anchor: "end" } } };
    }
    const { view } = await window.vegaEmbed(place, spec, options);
    await view.runAsync();
    place.view = view; // for a page that moves something in it
    const drawing = place.querySelector("svg");
    drawing.setAttribute("aria-hidden", "true"); // the place itself has the words
    drawing.setAttribute("focusable", "false");
    place.dataset.drawn = "yes";
  };

  // On a phone the labels of lines take less of the width; a legend, and what an axis is called,
  // may begin above and below them.
  const narrow = (part, width) => {
    if (Array.isArray(part)) part.forEach((inner) => narrow(inner, width));
    else if (part && typeof part === "object") {
      if ("symbolSize" in part) part.labelLimit = width - 40;
      else if (part.labelLimit > 110) part.labelLimit = 110;
      for (const [key, inner] of Object.entries(part)) if (key !== "datasets") narrow(inner, width);
    }
  };

  const places = [...document.querySelectorAll("[data-chart]")];
  window.indiffCharts = Promise.all(places.map(draw)).then(() => {
    document.documentElement.dataset.charts = "drawn";
  });

  // What can be folded away on a screen belongs on paper.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.on-paper:not([open])")];
    folded.forEach((part) => { part.open = true; });
  });
  window.addEventListener("afterprint", () => folded.forEach((part) => { part.open = false; }));
})();
