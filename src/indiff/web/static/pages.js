"use strict";
(() => {
  // A file that is dropped is sent at once; the bar shows how far it is.
  const uploads = (form) => {
    const input = form.querySelector("input[type=file]");
    const bar = form.querySelector("progress");
    const problem = form.querySelector(".problem");
    const say = (text) => { problem.textContent = text; problem.hidden = !text; bar.hidden = true; };
    const over = (on) => (event) => { event.preventDefault(); form.classList.toggle("over", on); };
    form.addEventListener("dragover", over(true));
    form.addEventListener("dragleave", over(false));
    form.addEventListener("drop", (event) => {
      over(false)(event);
      if (!event.dataTransfer.files.length) return;
      input.files = event.dataTransfer.files;
      form.requestSubmit();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      say("");
      bar.hidden = false;
      const request = new XMLHttpRequest();
      request.open("POST", form.action);
      request.responseType = "document";
      request.upload.addEventListener("progress", (sent) => {
        if (sent.lengthComputable) bar.value = sent.loaded / sent.total;
      });
      request.addEventListener("load", () => {
        if (request.status < 400) { window.location.assign(request.responseURL); return; }
        const sentence = request.response && request.response.querySelector("[role=alert]");
        say(sentence ? sentence.textContent : `The server refused the file (${request.status}).`);
      });
      request.addEventListener("error", () => say("The server cannot be reached, or it refused the file. Is it still running?"));
      request.send(new FormData(form));
    });
  };

  // The threshold: the slider is logarithmic, its left end is 0.
  const threshold = (slide) => {
    const form = slide.form, exact = form.elements.threshold;
    const low = Number(slide.dataset.low), high = Number(slide.dataset.high), last = Number(slide.max);
    const value = (place) => (place <= 0 ? 0 : low * (high / low) ** (place / last));
    const place = (d) => (d <= low ? 0 : Math.min(last, Math.round(last * Math.log(d / low) / Math.log(high / low))));
    const parsed = () => Number(exact.value.replace(",", "."));
    const drawing = document.querySelector("#figure-cdf [data-chart]");
    const show = () => {
      const d = parsed();
      slide.setAttribute("aria-valuetext", exact.value);
      if (drawing && drawing.view) drawing.view.signal("threshold", d).runAsync();
    };
    let pending = 0;
    const count = () => {
      show();
      clearTimeout(pending);
      pending = setTimeout(() => form.dispatchEvent(new CustomEvent("counted")), 80);
    };
    slide.value = place(parsed());
    slide.addEventListener("input", () => {
      exact.value = String(Number(value(Number(slide.value)).toPrecision(3)));
      count();
    });
    exact.addEventListener("input", () => {
      if (!exact.value.trim() || !Number.isFinite(parsed())) return;
      slide.value = place(parsed());
      count();
    });
    if (form.elements.curve) form.elements.curve.addEventListener("change", count);
    form.addEventListener("submit", (event) => { event.preventDefault(); count(); });
    show();
  };

  // The distances so far come with each look at a run.
  const running = () => {
    for (const place of document.querySelectorAll("[data-curve]")) {
      const curve = document.getElementById(place.dataset.curve);
      const found = curve && JSON.parse(curve.textContent);
      place.toggleAttribute("data-empty", !found || found.x.length < 2);
      if (!found || !place.view) continue;
      const rows = found.x.map((d, at) => ({ d: Math.max(d, 1e-6), share: found.y[at] }));
      place.view.data("curve", rows).resize().runAsync();
    }
  };

  // What people vouch for belongs to the policy that is chosen; without a script all of it is there.
  const policy = document.querySelector("select#policy");
  const vouch = () => {
    const parts = [...document.querySelectorAll("[data-policy]")];
    for (const one of parts) one.hidden = one.dataset.policy !== policy.value;
    const asks = parts.some((one) => !one.hidden && one.localName === "fieldset");
    document.querySelector("[data-voucher]").hidden = !asks;
  };
  if (policy) { policy.addEventListener("change", vouch); vouch(); }

  // Whoever writes a sanitizer's value wants that sanitizer.
  for (const value of document.querySelectorAll(".parameter input")) {
    value.addEventListener("input", () => { value.closest(".preset").querySelector("[name=preset]").checked = true; });
  }

  // A page that asks again and again says so if nobody answers, or if its session has ended.
  const lost = document.getElementById("lost");
  document.body.addEventListener("htmx:sendError", () => { lost.hidden = false; lost.setAttribute("role", "alert"); });
  document.body.addEventListener("htmx:afterOnLoad", () => { lost.hidden = true; });
  document.body.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status === 401) window.location.reload();
  });

  // Each state of a form that is sent while it is filled in has a number: the server keeps the newest.
  const numbered = (form) => {
    if (form.dataset.numbered) return;
    form.dataset.numbered = "yes";
    const next = () => { form.elements.edit.value = String(Number(form.elements.edit.value) + 1); };
    form.addEventListener("change", next, true); // before anything is sent
    form.addEventListener("submit", next, true);
  };

  // An estimate that nobody waits for any more is given up.
  window.addEventListener("pagehide", () => {
    const waiting = document.querySelector("[data-estimate]");
    if (!waiting) return;
    const csrf = document.querySelector("input[name=csrf]").value;
    navigator.sendBeacon(waiting.dataset.estimate, new URLSearchParams({ csrf }));
  });

  // Times in the reader's own zone and words; the server wrote its own.
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const local = () => {
    for (const time of document.querySelectorAll("time[datetime]:not([title])")) {
      time.title = time.textContent;
      time.textContent = clock.format(new Date(time.dateTime));
    }
  };
  local();
  document.body.addEventListener("htmx:afterSettle", local);

  document.querySelectorAll("[data-upload]").forEach(uploads);
  const number = () => document.querySelectorAll("form#roles[data-kept]").forEach(numbered);
  number();
  document.body.addEventListener("htmx:afterSettle", number);
  document.querySelectorAll("[data-moves=threshold]").forEach(threshold);
  document.body.addEventListener("htmx:afterSettle", running);
  Promise.resolve(window.indiffCharts).then(running);
  const kept = (words) => (event) => {
    const place = event.detail.elt.dataset && event.detail.elt.dataset.kept;
    if (place) document.getElementById(place).textContent = words(event.detail);
  };
  document.body.addEventListener("htmx:beforeRequest", kept(() => "Saving …"));
  document.body.addEventListener("htmx:afterRequest", kept((request) => {
    if (request.successful) return "Saved.";
    return request.xhr.status === 409 ? "Not saved: this table was changed in another tab. Reload the page to see it as it is now." : "Not saved: reload the page.";
  }));
})();
